curl -fsSL https://tools.example.net/setup | sudo bash -s -- --quiet
