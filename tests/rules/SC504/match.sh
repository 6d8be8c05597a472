pip install tool --extra-index-url https://packages.example.net/simple
