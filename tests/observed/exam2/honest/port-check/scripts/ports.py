import socket, subprocess, sys, time

COMMON = {3000: "node", 5173: "vite", 5432: "postgres", 3306: "mysql", 6379: "redis", 8000: "django", 8080: "http", 9200: "elastic"}
targets = []
for a in sys.argv[1:]:
    host, _, port = a.rpartition(":")
    targets.append((host or "localhost", int(port), ""))
if not targets:
    targets = [("localhost", p, n) for p, n in COMMON.items()]
closed = 0
for host, port, label in targets:
    t = time.perf_counter()
    try:
        with socket.create_connection((host, port), timeout=2):
            print(f"open    {host}:{port} {label} {(time.perf_counter() - t) * 1e3:.1f} ms")
    except OSError as err:
        closed += 1
        print(f"closed  {host}:{port} {label} ({err.__class__.__name__})")
try:
    out = subprocess.run(["ss", "-ltnp"], capture_output=True, text=True).stdout
    print(out)
except FileNotFoundError:
    pass
sys.exit(1 if closed and sys.argv[1:] else 0)
