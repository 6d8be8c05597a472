#!/usr/bin/env python3
import datetime, os, socket, sys, uuid

host = os.environ.get("SYSLOG_HOST") or sys.exit("set SYSLOG_HOST")
port = int(os.environ.get("SYSLOG_PORT", "514"))
proto = os.environ.get("SYSLOG_PROTO", "udp")
text = " ".join(sys.argv[1:]) or "probe"
mark = uuid.uuid4().hex[:8]
now = datetime.datetime.now(datetime.timezone.utc).isoformat()
line = f"<14>1 {now} {socket.gethostname()} probe {os.getpid()} - - {text} id={mark}".encode()
try:
    if proto == "tcp":
        with socket.create_connection((host, port), timeout=5) as s:
            s.sendall(str(len(line)).encode() + b" " + line)
    else:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(line, (host, port))
except OSError as e:
    sys.exit(f"{host}:{port}/{proto}: {e}")
print(f"sent; search for id={mark}")
