import difflib, shutil, subprocess, sys
if len(sys.argv) < 3:
    sys.exit("usage: diff.py GROUP GROUP")
if not shutil.which("mysqldump"):
    sys.exit("mysqldump is not installed")
def schema(group):
    done = subprocess.run(["mysqldump", f"--defaults-group-suffix=_{group}", "--no-data", "--all-databases"], capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if not line.startswith(("--", "/*"))]
for line in difflib.unified_diff(schema(sys.argv[1]), schema(sys.argv[2]), sys.argv[1], sys.argv[2], lineterm=""):
    print(line)
