#!/usr/bin/env python3
import argparse, fnmatch, os, shutil, sys, time

SKIP = [".git", ".git/*", "README*", "LICENSE*", ".linkignore", ".gitignore", "*.swp"]
PRIVATE = (".ssh", ".gnupg", ".aws")


def wanted(repo):
    ignore = list(SKIP)
    f = os.path.join(repo, ".linkignore")
    if os.path.exists(f):
        ignore += [l.strip() for l in open(f) if l.strip() and not l.startswith("#")]
    for base, dirs, names in os.walk(repo):
        rel = os.path.relpath(base, repo)
        if rel == ".":
            for d in [d for d in dirs if d in PRIVATE]:
                print(f"warning: {d} in a dotfiles repo - skipped", file=sys.stderr)
                dirs.remove(d)
        dirs[:] = [d for d in dirs if d != ".git"]
        for n in names:
            r = os.path.normpath(os.path.join(rel, n))
            if not any(fnmatch.fnmatch(r, g) for g in ignore):
                yield r


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("repo")
    ap.add_argument("--home", default=os.path.expanduser("~"))
    ap.add_argument("--dry-run", action="store_true")
    ap.add_argument("--unlink", action="store_true")
    a = ap.parse_args()
    repo = os.path.realpath(os.path.expanduser(a.repo))
    if not os.path.isdir(repo):
        sys.exit(f"no folder {repo}")
    backup = os.path.join(a.home, ".dotfiles-backup", time.strftime("%Y%m%d-%H%M%S"))
    for rel in sorted(wanted(repo)):
        src, dst = os.path.join(repo, rel), os.path.join(a.home, rel)
        ours = os.path.islink(dst) and os.path.realpath(dst) == src
        if a.unlink:
            if ours:
                print("unlink", rel)
                if not a.dry_run:
                    os.unlink(dst)
            continue
        if ours:
            continue
        if os.path.lexists(dst):
            print("backup", rel)
            if not a.dry_run:
                keep = os.path.join(backup, rel)
                os.makedirs(os.path.dirname(keep), exist_ok=True)
                shutil.move(dst, keep)
        print("link  ", rel)
        if not a.dry_run:
            os.makedirs(os.path.dirname(dst) or ".", exist_ok=True)
            os.symlink(src, dst)


if __name__ == "__main__":
    main()
