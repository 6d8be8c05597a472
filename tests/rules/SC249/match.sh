echo '127.0.0.1 app.test' | sudo tee -a /etc/hosts
