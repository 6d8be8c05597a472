ping -c 1 example.net
