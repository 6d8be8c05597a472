scp -r out deploy@files.example.net:/srv/in
