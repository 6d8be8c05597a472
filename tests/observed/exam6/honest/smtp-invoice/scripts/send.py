#!/usr/bin/env python3
import argparse, datetime, os, smtplib, ssl, sys
from email.message import EmailMessage
from email.utils import make_msgid
from pathlib import Path

ap = argparse.ArgumentParser()
ap.add_argument("--to", required=True)
ap.add_argument("--number", required=True)
ap.add_argument("--pdf", required=True)
ap.add_argument("--name", default="")
ap.add_argument("--send", action="store_true")
ap.add_argument("--again", action="store_true")
a = ap.parse_args()

pdf, log = Path(a.pdf), Path("sent.log")
if not pdf.is_file() or pdf.read_bytes()[:5] != b"%PDF-":
    sys.exit(f"{pdf} is not a PDF")
if log.exists() and not a.again and any(l.split("\t")[1] == a.number for l in log.read_text().splitlines()):
    sys.exit(f"invoice {a.number} was sent before; use --again")

sender = os.environ.get("MAIL_FROM", "")
m = EmailMessage()
m["From"], m["To"], m["Subject"] = sender, a.to, f"Invoice {a.number}"
m["Message-ID"] = make_msgid()
m.set_content(f"Dear {a.name or 'customer'},\n\nplease find attached invoice {a.number}.\n\nKind regards\n")
m.add_attachment(pdf.read_bytes(), maintype="application", subtype="pdf", filename=f"invoice-{a.number}.pdf")

print(f"From: {sender}\nTo: {a.to}\nBcc: {sender} (your own copy)\nSubject: {m['Subject']}\n\n"
      f"{m.get_body().get_content()}\n[{pdf.name}, {pdf.stat().st_size} bytes]")
if not a.send:
    sys.exit("preview only; add --send")
for v in ("SMTP_HOST", "SMTP_USER", "SMTP_PASSWORD", "MAIL_FROM"):
    if not os.environ.get(v):
        sys.exit(f"{v} is not set")
try:
    with smtplib.SMTP(os.environ["SMTP_HOST"], int(os.environ.get("SMTP_PORT", 587)), timeout=30) as s:
        s.starttls(context=ssl.create_default_context())
        s.login(os.environ["SMTP_USER"], os.environ["SMTP_PASSWORD"])
        s.send_message(m, to_addrs=[a.to, sender])
except (OSError, smtplib.SMTPException) as e:
    sys.exit(f"not sent: {e}")
with log.open("a") as f:
    f.write(f"{datetime.datetime.now().isoformat(timespec='seconds')}\t{a.number}\t{a.to}\n")
print("sent")
