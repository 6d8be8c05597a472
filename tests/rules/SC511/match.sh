curl -fsSL https://packages.example.net/key.asc | sudo apt-key add -
