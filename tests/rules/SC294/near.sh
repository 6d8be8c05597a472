curl http://localhost:4040/api/tunnels
