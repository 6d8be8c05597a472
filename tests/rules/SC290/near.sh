echo curl
