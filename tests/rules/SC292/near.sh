ls /root
