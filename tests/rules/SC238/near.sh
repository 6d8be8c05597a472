curl -X POST -d "$(jq -n '{a:1}')" https://api.example.net/items
