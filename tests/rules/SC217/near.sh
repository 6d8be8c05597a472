cat notes.json | curl -X POST -d @- https://api.example.net/notes
