sudo usermod -aG sudo deploy
