nmap -sS 10.0.0.0/24
