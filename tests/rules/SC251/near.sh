chmod u+x /usr/local/bin/helper
chmod 0755 helper
