sudo ls /root
