env | grep NODE
curl https://api.example.net/
