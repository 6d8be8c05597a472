import collections, pathlib, sys
home = pathlib.Path.home()
counts = collections.Counter()
for name in (".bash_history", ".zsh_history"):
    path = home / name
    if path.exists():
        for line in path.read_text(errors="replace").splitlines():
            counts[line.split(";", 1)[-1].strip()] += 1
aliases = []
for command, times in counts.most_common(10):
    words = command.split()
    if len(words) > 1:
        aliases.append(f"alias {''.join(w[0] for w in words if w[0].isalpha())}='{command}'")
print("\n".join(aliases))
if "--apply" in sys.argv:
    with (home / ".bash_aliases").open("a") as file:
        file.write("\n".join(aliases) + "\n")
