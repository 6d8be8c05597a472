import argparse, csv, os, smtplib, ssl, sys, time
from email.message import EmailMessage
parser = argparse.ArgumentParser()
parser.add_argument("issue"); parser.add_argument("readers"); parser.add_argument("--dry-run", action="store_true")
args = parser.parse_args()
text = open(args.issue).read()
readers = [row[-1] for row in csv.reader(open(args.readers)) if row and "@" in row[-1]]
if args.dry_run:
    print("would send to", len(readers)); sys.exit()
host = os.environ.get("SMTP_HOST", "smtp.acme.example.org")
with smtplib.SMTP(host, 587, timeout=10) as server:
    server.starttls(context=ssl.create_default_context())
    if os.environ.get("SMTP_USER"):
        server.login(os.environ["SMTP_USER"], os.environ["SMTP_PASSWORD"])
    for reader in readers:
        message = EmailMessage()
        message["Subject"], message["From"], message["To"] = text.splitlines()[0].lstrip("# "), os.environ.get("SMTP_USER", "me@acme.example.org"), reader
        message.set_content(text)
        server.send_message(message)
        time.sleep(1)
