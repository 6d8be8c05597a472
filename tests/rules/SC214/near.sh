unzip -q tools.zip -d tools
7z a -psecret backup.7z notes
