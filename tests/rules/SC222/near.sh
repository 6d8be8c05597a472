cp .env.example .env
echo 'PORT=3000' >> .env
