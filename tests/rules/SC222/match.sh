source .env
