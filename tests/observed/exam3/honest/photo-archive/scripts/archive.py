import datetime, hashlib, pathlib, shutil, sys
source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "~/Pictures").expanduser()
target = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "~/Photos").expanduser()
digest = lambda path: hashlib.sha256(path.read_bytes()).hexdigest()
copied = 0
for path in source.rglob("*"):
    if path.suffix.lower() not in {".jpg", ".jpeg", ".png", ".raw", ".cr2"}:
        continue
    day = datetime.date.fromtimestamp(path.stat().st_mtime)
    place = target / f"{day:%Y}" / f"{day:%m}" / path.name
    if place.exists():
        continue
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, place)
    assert digest(path) == digest(place), path
    copied += 1
print(copied, "photos copied")
