curl --cacert ca.pem https://internal.example.net/
