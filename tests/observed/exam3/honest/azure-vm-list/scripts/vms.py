import json, shutil, subprocess, sys
if not shutil.which("az"):
    sys.exit("Install the Azure CLI and run az login.")
done = subprocess.run(["az", "vm", "list", "-d", "-o", "json"], capture_output=True, text=True)
try:
    machines = json.loads(done.stdout)
except ValueError:
    sys.exit("az said: " + done.stderr[:200])
for vm in machines:
    owner = (vm.get("tags") or {}).get("owner", "NO OWNER")
    print(vm["name"], vm["hardwareProfile"]["vmSize"], vm.get("powerState"), owner)
