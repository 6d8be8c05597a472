curl -d "done=1" https://webhook.example.net/done
