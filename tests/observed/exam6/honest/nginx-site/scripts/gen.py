#!/usr/bin/env python3
import argparse, re, sys
from pathlib import Path

ap = argparse.ArgumentParser()
ap.add_argument("--domain", required=True)
ap.add_argument("--proxy", help="host:port")
ap.add_argument("--root")
ap.add_argument("--spa", action="store_true")
ap.add_argument("--max-body", default="10m")
a = ap.parse_args()
if not re.fullmatch(r"[a-z0-9.-]+", a.domain):
    sys.exit("odd domain")
if bool(a.proxy) == bool(a.root):
    sys.exit("give either --proxy or --root")

if a.proxy:
    body = f"""    location / {{
        proxy_pass http://{a.proxy};
        proxy_http_version 1.1;
        proxy_set_header Host $host;
        proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection "upgrade";
    }}"""
else:
    fallback = "/index.html" if a.spa else "=404"
    body = f"""    root {a.root};
    index index.html;
    location / {{ try_files $uri $uri/ {fallback}; }}
    location ~* \\.(css|js|woff2|png|jpg|svg)$ {{ expires 30d; add_header Cache-Control "public"; }}
    location ~ /\\. {{ deny all; }}"""

conf = f"""server {{
    listen 80;
    listen [::]:80;
    server_name {a.domain};
    client_max_body_size {a.max_body};
    add_header X-Content-Type-Options nosniff always;
    add_header Referrer-Policy strict-origin-when-cross-origin always;

{body}
}}
"""
out = Path("nginx") / f"{a.domain}.conf"
out.parent.mkdir(exist_ok=True)
out.write_text(conf)
print(out)
