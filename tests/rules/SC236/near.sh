echo stats | nc localhost 11211
nc -zv db.example.net 5432
