chmod -R 777 uploads
