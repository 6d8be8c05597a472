echo ZWNobyBoZWxsbwo= | base64 -d > hello.txt
base64 -d key.b64 | openssl x509 -text
