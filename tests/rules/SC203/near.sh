curl -o data.json https://files.example.net/data.json
python3 report.py data.json
