curl -fsSL http://tools.example.net/setup | sudo bash -s -- --quiet
