nc -l 9000 > received.txt
