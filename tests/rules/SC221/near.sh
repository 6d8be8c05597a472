open -a 'Google Chrome' https://example.net
