echo /opt/x.so | sudo tee /etc/ld.so.preload
