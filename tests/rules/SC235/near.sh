scp deploy@files.example.net:/srv/out/report.txt .
