curl -d 'name=report' https://api.example.net/upload
