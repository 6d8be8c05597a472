python3 -c 'print(1)'
