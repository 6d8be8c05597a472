curl -s -H "Authorization: Bearer $(cat ~/.config/tool/token)" https://api.example.net/me
