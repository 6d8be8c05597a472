dig +short TXT example.net
