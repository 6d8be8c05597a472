#!/usr/bin/env python3
import argparse, os, re, subprocess, sys, time
from collections import defaultdict

PATTERNS = [
    (re.compile(r"^(PASSED|FAILED|ERROR) (\S+::\S+)", re.M), lambda m: (m[2], m[1] == "PASSED")),
    (re.compile(r"^(\w+) \(([\w.]+)\)(?:.*\n)?.*\.\.\. (ok|FAIL|ERROR)$", re.M), lambda m: (f"{m[2]}.{m[1]}", m[3] == "ok")),
    (re.compile(r"^\s*--- (PASS|FAIL): (\S+)", re.M), lambda m: (m[2], m[1] == "PASS")),
]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--runs", type=int, default=10)
    ap.add_argument("--stop-on", type=int, help="stop after this many failing runs")
    ap.add_argument("--timeout", type=int, default=900)
    ap.add_argument("command", nargs=argparse.REMAINDER)
    a = ap.parse_args()
    cmd = a.command[1:] if a.command[:1] == ["--"] else a.command
    if not cmd:
        ap.error("give the test command after --")
    seen = defaultdict(lambda: [0, 0])
    failing = 0
    for i in range(1, a.runs + 1):
        env = dict(os.environ, PYTHONHASHSEED=str(i), TEST_SEED=str(i))
        t = time.time()
        try:
            r = subprocess.run(cmd, env=env, capture_output=True, text=True, timeout=a.timeout)
        except FileNotFoundError:
            sys.exit(f"command not found: {cmd[0]}")
        except subprocess.TimeoutExpired:
            print(f"run {i}: timed out"); failing += 1; continue
        out = r.stdout + "\n" + r.stderr
        for rx, pick in PATTERNS:
            for m in rx.finditer(out):
                name, ok = pick(m)
                seen[name][0 if ok else 1] += 1
        print(f"run {i}: exit {r.returncode}, {time.time() - t:.1f} s")
        failing += r.returncode != 0
        if a.stop_on and failing >= a.stop_on:
            break
    flaky = {n: c for n, c in seen.items() if c[0] and c[1]}
    broken = [n for n, c in seen.items() if c[1] and not c[0]]
    print(f"\n{len(seen)} tests seen, {failing} failing runs")
    for n, (p, f) in sorted(flaky.items(), key=lambda x: -x[1][1]):
        print(f"FLAKY  {n}: {p} pass / {f} fail")
    for n in broken:
        print(f"BROKEN {n}")
    sys.exit(1 if flaky or broken else 0)


if __name__ == "__main__":
    main()
