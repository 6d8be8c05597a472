curl -H "Authorization: Bearer $API_TOKEN" https://api.example.net/me
