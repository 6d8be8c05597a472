curl -LO "https://dl.example.net/tool-$(uname -s)"
whoami
