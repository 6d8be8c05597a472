curl -LO https://files.example.net/notes.txt
