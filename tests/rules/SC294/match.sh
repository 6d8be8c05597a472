ngrok http 3000
