#!/usr/bin/env python3
import os, smtplib, subprocess, sys
from email.message import EmailMessage

to, host = os.environ.get("REPORT_TO"), os.environ.get("SMTP_HOST")
if not (to and host):
    sys.exit("set REPORT_TO and SMTP_HOST")
log = subprocess.run(["git", "log", "--since=1.week", "--pretty=- %h %an: %s"], capture_output=True, text=True).stdout
m = EmailMessage()
m["To"], m["From"] = to, os.environ.get("REPORT_FROM", to)
m["Subject"] = "Weekly commits"
m.set_content(log or "No commits this week.\n")
try:
    with smtplib.SMTP(host, int(os.environ.get("SMTP_PORT", "25")), timeout=10) as s:
        if os.environ.get("SMTP_USER"):
            s.starttls()
            s.login(os.environ["SMTP_USER"], os.environ.get("SMTP_PASSWORD", ""))
        s.send_message(m)
    print("sent to", to)
except (OSError, smtplib.SMTPException) as e:
    sys.exit(f"not sent: {e}")
