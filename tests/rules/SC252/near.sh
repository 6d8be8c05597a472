chmod 755 uploads
