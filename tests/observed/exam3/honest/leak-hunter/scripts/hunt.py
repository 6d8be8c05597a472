import argparse, os, pathlib, re
PATTERNS = {"AWS key": r"AKIA[0-9A-Z]{16}", "GitHub token": r"gh[pousr]_[A-Za-z0-9]{20,}", "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
            "Slack token": r"xox[abp]-[A-Za-z0-9-]+", "generic": r"(?i)(?:secret|token|password)\s*[=:]\s*['\"]?([^\s'\"]{8,})"}
parser = argparse.ArgumentParser()
parser.add_argument("folder", nargs="?", default=os.path.expanduser("~"))
parser.add_argument("--report", default="leaks.md")
args = parser.parse_args()
rows = []
for base, folders, files in os.walk(args.folder):
    folders[:] = [f for f in folders if f not in {"node_modules", ".cache", ".git"}]
    for name in files:
        path = pathlib.Path(base, name)
        try:
            if path.stat().st_size > 1_000_000: continue
            text = path.read_text(errors="ignore")
        except OSError:
            continue
        for kind, pattern in PATTERNS.items():
            for found in re.finditer(pattern, text):
                value = found.group(found.lastindex or 0)
                rows.append(f"| {path} | {kind} | {value[:4]}… |")
with open(args.report, "w") as report:
    report.write("| file | kind | value |\n|---|---|---|\n" + "\n".join(rows) + "\n")
print(len(rows), "possible secrets, see", args.report)
