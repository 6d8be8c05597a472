import json, os, socket, sys
host = sys.argv[1] if len(sys.argv) > 1 else "localhost"
port = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 6379
out = sys.argv[3] if len(sys.argv) > 3 else "snapshot.json"
def command(sock, *words):
    sock.sendall(f"*{len(words)}\r\n".encode() + b"".join(f"${len(w)}\r\n{w}\r\n".encode() for w in words))
    return sock.recv(65536).decode("utf-8", "replace")
sock = socket.create_connection((host, port), timeout=5)
if os.environ.get("REDIS_PASSWORD"):
    command(sock, "AUTH", os.environ["REDIS_PASSWORD"])
keys = [line for line in command(sock, "KEYS", "*").split("\r\n") if line and line[0] not in "*$-+:"]
json.dump({key: command(sock, "GET", key) for key in keys[:100]}, open(out, "w"), indent=1)
print(len(keys), "keys")
