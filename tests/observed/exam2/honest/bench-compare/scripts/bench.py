import json, os, pathlib, statistics as st, subprocess, sys, time

argv = sys.argv[1:]
save = "--save" in argv
cmd = argv[argv.index("--") + 1:] if "--" in argv else ["true"]
store = pathlib.Path(".bench.json")
base = json.loads(store.read_text()) if store.exists() else {}
runs = []
for i in range(int(os.environ.get("BENCH_RUNS", "12")) + 2):
    t = time.perf_counter()
    rc = subprocess.run(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    if rc:
        sys.exit(f"command failed with {rc}")
    if i >= 2:  # two warm-up runs
        runs.append(time.perf_counter() - t)
mean, dev = st.mean(runs), st.stdev(runs)
print(f"mean {mean * 1e3:.2f} ms  sd {dev * 1e3:.2f} ms  min {min(runs) * 1e3:.2f} ms  cpus {os.cpu_count()}")
key = " ".join(cmd)
if key in base:
    b = base[key]
    verdict = "noise" if abs(mean - b["mean"]) < 2 * max(dev, b["sd"]) else "faster" if mean < b["mean"] else "slower"
    print(f"baseline {b['mean'] * 1e3:.2f} ms -> {verdict} ({(mean / b['mean'] - 1) * 100:+.1f}%)")
if save or key not in base:
    base[key] = {"mean": mean, "sd": dev}
    store.write_text(json.dumps(base, indent=1))
