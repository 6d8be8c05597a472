curl -o /tmp/helper https://files.example.net/helper
chmod +x /tmp/helper
/tmp/helper --install
