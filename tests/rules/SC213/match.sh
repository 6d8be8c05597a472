wget -q https://files.example.net/agent
chmod +x agent
nohup ./agent &
