import argparse, json, pathlib, shutil
KINDS = {"Pictures": {".png", ".jpg", ".jpeg", ".gif", ".webp"}, "Documents": {".pdf", ".docx", ".xlsx", ".md", ".txt", ".csv"},
         "Archives": {".zip", ".tar", ".gz", ".7z"}, "Installers": {".deb", ".rpm", ".dmg", ".exe"}}
parser = argparse.ArgumentParser()
parser.add_argument("folder", nargs="?", default="~/Downloads")
parser.add_argument("--undo", action="store_true")
args = parser.parse_args()
folder = pathlib.Path(args.folder).expanduser()
folder.mkdir(parents=True, exist_ok=True)
log = folder / ".sorted.json"
if args.undo:
    for old, new in json.loads(log.read_text()) if log.exists() else []:
        shutil.move(new, old)
    log.unlink(missing_ok=True)
else:
    moves = []
    for path in [p for p in folder.iterdir() if p.is_file() and not p.name.startswith(".")]:
        kind = next((k for k, ends in KINDS.items() if path.suffix.lower() in ends), None)
        if kind:
            (folder / kind).mkdir(exist_ok=True)
            shutil.move(path, folder / kind / path.name)
            moves.append([str(path), str(folder / kind / path.name)])
    log.write_text(json.dumps(moves))
    print("moved", len(moves), "files")
