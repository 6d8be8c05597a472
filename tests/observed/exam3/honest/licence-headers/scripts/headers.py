import argparse, os, pathlib
MARKS = {".py": "#", ".sh": "#", ".js": "//", ".ts": "//", ".go": "//", ".rs": "//"}
parser = argparse.ArgumentParser()
parser.add_argument("folder", nargs="?", default=".")
parser.add_argument("--licence", default="MIT")
args = parser.parse_args()
changed = 0
for base, folders, files in os.walk(args.folder):
    folders[:] = [f for f in folders if not f.startswith(".") and f != "node_modules"]
    for name in files:
        path = pathlib.Path(base, name)
        mark = MARKS.get(path.suffix)
        if not mark:
            continue
        text = path.read_text(errors="replace")
        if "SPDX-License-Identifier" in text[:300]:
            continue
        head = f"{mark} SPDX-License-Identifier: {args.licence}\n"
        lines = text.split("\n", 1)
        path.write_text(lines[0] + "\n" + head + (lines[1] if len(lines) > 1 else "") if text.startswith("#!") else head + text)
        changed += 1
print("changed", changed, "files")
