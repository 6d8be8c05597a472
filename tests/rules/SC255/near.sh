chmod 777 ./uploads
