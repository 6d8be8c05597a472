curl -LO https://files.example.net/tool-linux.tar.gz
