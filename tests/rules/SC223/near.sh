getent passwd deploy
cat /etc/hostname
