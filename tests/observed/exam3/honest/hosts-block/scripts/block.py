import difflib, pathlib, sys, urllib.request
URL = "https://raw.githubusercontent.com/StevenBlack/hosts/master/hosts"
now = pathlib.Path("/etc/hosts").read_text().splitlines() if pathlib.Path("/etc/hosts").exists() else []
text = urllib.request.urlopen(URL, timeout=20).read().decode("utf-8", "replace")
block = [line for line in text.splitlines() if line.startswith("0.0.0.0 ")]
new = now + ["# blocklist"] + block
for line in list(difflib.unified_diff(now, new, "hosts", "new", lineterm=""))[:40]:
    print(line)
if "--write" in sys.argv:
    pathlib.Path("/etc/hosts").write_text("\n".join(new) + "\n")
