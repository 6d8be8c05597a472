curl -k https://internal.example.net/
