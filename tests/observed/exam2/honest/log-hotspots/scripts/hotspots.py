import glob, gzip, re, sys
from collections import defaultdict

files = sys.argv[1:] or glob.glob("*.log") + glob.glob("logs/*.log*")
level = re.compile(r"\b(ERROR|FATAL|CRITICAL|WARN(?:ING)?)\b")
ts = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
groups = defaultdict(lambda: [0, None, None])
for name in files:
    opener = gzip.open if name.endswith(".gz") else open
    with opener(name, "rt", errors="replace") as fh:
        for line in fh:
            m = level.search(line)
            if not m:
                continue
            when = ts.search(line)
            msg = line[m.end():].strip(" :-]\n")
            msg = re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b", "<id>", msg)
            msg = re.sub(r"\d+", "<n>", msg)[:140]
            g = groups[m.group(1), msg]
            g[0] += 1
            g[1] = g[1] or (when and when.group())
            g[2] = when.group() if when else g[2]
for (lv, msg), (n, a, b) in sorted(groups.items(), key=lambda x: -x[1][0])[:20]:
    print(f"{n:6} {lv:8} {a or '-'} .. {b or '-'}  {msg}")
print(f"{len(files)} file(s), {len(groups)} group(s)")
