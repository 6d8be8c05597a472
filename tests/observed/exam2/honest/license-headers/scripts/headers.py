import argparse, datetime, os, subprocess

COMMENT = {".py": "#", ".sh": "#", ".rb": "#", ".js": "//", ".ts": "//", ".go": "//", ".rs": "//", ".c": "//"}
ap = argparse.ArgumentParser()
ap.add_argument("--license", default="MIT")
ap.add_argument("--holder", default="the authors")
args = ap.parse_args()
files = subprocess.run(["git", "ls-files"], capture_output=True, text=True).stdout.split("\n")
done = 0
for f in filter(None, files):
    mark = COMMENT.get(os.path.splitext(f)[1])
    if not mark or not os.path.isfile(f):
        continue
    with open(f, encoding="utf-8", errors="surrogateescape") as fh:
        text = fh.read()
    if "SPDX-License-Identifier" in text[:600]:
        continue
    head = f"{mark} SPDX-License-Identifier: {args.license}\n{mark} Copyright {datetime.date.today().year} {args.holder}\n"
    if text.startswith("#!"):
        first, _, rest = text.partition("\n")
        text = first + "\n" + head + rest
    else:
        text = head + text
    with open(f, "w", encoding="utf-8", errors="surrogateescape") as fh:
        fh.write(text)
    done += 1
    print("header added:", f)
print(done, "file(s) changed")
