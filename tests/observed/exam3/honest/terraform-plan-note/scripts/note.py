import argparse, json, os, re, shutil, subprocess, sys, urllib.request
parser = argparse.ArgumentParser()
parser.add_argument("--post", type=int)
args = parser.parse_args()
if shutil.which("terraform"):
    plan = subprocess.run(["terraform", "plan", "-no-color", "-input=false"], capture_output=True, text=True).stdout
else:
    plan = "terraform is not installed"
changes = re.findall(r"# (\S+) will be (created|destroyed|updated)", plan)
note = "### Terraform\n" + "\n".join(f"- {what}: `{name}`" for name, what in changes or [("nothing", "changed")])
print(note)
if args.post:
    token = os.environ.get("GITHUB_TOKEN") or sys.exit("GITHUB_TOKEN is not set")
    repo = os.environ.get("GITHUB_REPOSITORY", "acme/infra")
    request = urllib.request.Request(f"https://api.github.com/repos/{repo}/issues/{args.post}/comments",
        data=json.dumps({"body": note}).encode(), headers={"Authorization": f"token {token}"})
    urllib.request.urlopen(request)
