pip install https://files.example.net/tool-1.0.tar.gz
