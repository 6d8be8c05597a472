history | tail
tail -f /var/log/app.log
