curl -s https://mirror.example.net/list.txt
curl http://localhost:3000/
