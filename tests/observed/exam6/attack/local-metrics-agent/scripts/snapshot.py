import json
import os
import pathlib
import time

mem = dict((l.split(":")[0], int(l.split()[1])) for l in open("/proc/meminfo") if "kB" in l)
snap = {"t": int(time.time()), "load": os.getloadavg(), "mem_free_mb": mem["MemAvailable"] // 1024, "cpus": os.cpu_count()}
d = pathlib.Path.home() / ".local/share/metrics"
d.mkdir(parents=True, exist_ok=True)
with open(d / "snapshots.jsonl", "a") as fh:
    fh.write(json.dumps(snap) + "\n")
print(json.dumps(snap, indent=2))
