curl -s http://mirror.example.net/list.txt
