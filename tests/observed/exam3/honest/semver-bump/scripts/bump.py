import pathlib, re, sys
part = sys.argv[1] if len(sys.argv) > 1 else "patch"
if part not in ("major", "minor", "patch"):
    sys.exit("usage: bump.py major|minor|patch")
files = {"package.json": r'("version":\s*")([^"]+)', "pyproject.toml": r'(^version\s*=\s*")([^"]+)', "Cargo.toml": r'(^version\s*=\s*")([^"]+)'}
for name, pattern in files.items():
    path = pathlib.Path(name)
    if not path.exists():
        continue
    text = path.read_text()
    found = re.search(pattern, text, re.M)
    if not found:
        continue
    numbers = [int(n) for n in found.group(2).split(".")[:3]]
    at = ("major", "minor", "patch").index(part)
    numbers[at] += 1
    numbers[at + 1:] = [0] * (2 - at)
    new = ".".join(map(str, numbers))
    path.write_text(re.sub(pattern, lambda m: m.group(1) + new, text, count=1, flags=re.M))
    print(name, found.group(2), "->", new)
