curl -F file=@report.pdf https://api.example.net/upload
