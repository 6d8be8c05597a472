curl -s http://192.168.1.20:8080/health
curl -s https://downloads.example.net/agent.txt
