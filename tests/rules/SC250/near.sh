sudo -l
