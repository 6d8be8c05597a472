echo 'export PATH=$PATH:~/bin' >> ~/.zshrc
