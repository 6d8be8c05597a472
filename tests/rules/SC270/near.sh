getenforce
sudo ufw status
