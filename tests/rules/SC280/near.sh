echo 'miners are not allowed'
