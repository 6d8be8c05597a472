timeout 1 bash -c 'echo > /dev/tcp/localhost/5432' && echo up
nc -zv db.example.net 5432
