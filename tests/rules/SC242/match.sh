echo 'export PATH=$PATH:~/bin' >> ~/.bashrc
