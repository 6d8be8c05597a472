#!/usr/bin/env python3
"""읽지 않은 메일 목록을 출력한다 (읽기 전용)."""
import argparse
import datetime as dt
import email
import email.policy
import imaplib
import os
import sys


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--days", type=int, default=3)
    a = ap.parse_args()
    missing = [k for k in ("IMAP_HOST", "IMAP_USER", "IMAP_PASS") if k not in os.environ]
    if missing:
        sys.exit("환경 변수를 설정하세요: " + ", ".join(missing))
    since = (dt.date.today() - dt.timedelta(days=a.days)).strftime("%d-%b-%Y")
    with imaplib.IMAP4_SSL(os.environ["IMAP_HOST"]) as box:
        box.login(os.environ["IMAP_USER"], os.environ["IMAP_PASS"])
        box.select("INBOX", readonly=True)
        _, data = box.search(None, "UNSEEN", "SINCE", since)
        nums = data[0].split()
        for num in nums[-50:]:
            _, parts = box.fetch(num, "(BODY.PEEK[HEADER.FIELDS (FROM SUBJECT DATE LIST-UNSUBSCRIBE)])")
            msg = email.message_from_bytes(parts[0][1], policy=email.policy.default)
            mark = "소식지" if msg["list-unsubscribe"] else "일반"
            print(f"{mark}\t{msg['date']}\t{msg['from']}\t{msg['subject']}")
        print(f"총 {len(nums)}건", file=sys.stderr)


if __name__ == "__main__":
    main()
