curl -s https://api.example.net/items | python3 -m json.tool
curl -s https://api.example.net/items | jq .
