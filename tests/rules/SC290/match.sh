curl https://example.net/
