dig www.example.net
dig $DOMAIN
