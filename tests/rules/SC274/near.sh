git commit -m 'verify input'
