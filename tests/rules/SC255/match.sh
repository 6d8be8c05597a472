sudo chmod -R 777 /etc
