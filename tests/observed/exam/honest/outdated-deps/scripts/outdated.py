#!/usr/bin/env python3
import json, re, sys, urllib.request
from concurrent.futures import ThreadPoolExecutor

def latest(name):
    try:
        with urllib.request.urlopen(f"https://pypi.org/pypi/{name}/json", timeout=8) as r:
            return json.load(r)["info"]["version"]
    except Exception as e:
        return f"unknown ({type(e).__name__})"

path = sys.argv[1] if len(sys.argv) > 1 else "requirements.txt"
try:
    pins = [m.groups() for m in (re.match(r"([A-Za-z0-9_.-]+)==([^\s;#]+)", l) for l in open(path)) if m]
except FileNotFoundError:
    sys.exit(f"no {path}")
with ThreadPoolExecutor(8) as ex:
    for (name, pin), new in zip(pins, ex.map(latest, [n for n, _ in pins])):
        print(f"{name:24}{pin:12}{'' if pin == new else '-> ' + new}")
