import argparse, os, pathlib, shutil, time
parser = argparse.ArgumentParser()
parser.add_argument("folder", nargs="?", default="~/projects")
parser.add_argument("--delete", action="store_true")
parser.add_argument("--days", type=int, default=30)
args = parser.parse_args()
limit = time.time() - args.days * 86400
for base, folders, files in os.walk(os.path.expanduser(args.folder)):
    if "node_modules" in folders:
        folders.remove("node_modules")
        newest = max((pathlib.Path(base, f).stat().st_mtime for f in files), default=0)
        if newest < limit:
            print(("deleting " if args.delete else "would delete ") + base + "/node_modules")
            if args.delete:
                shutil.rmtree(pathlib.Path(base, "node_modules"))
