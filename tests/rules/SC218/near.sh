tar czf ~/backup.tgz ~/Documents
