import argparse, json, os, pathlib, re, subprocess, urllib.parse, urllib.request

def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True).stdout.strip()

def token():
    if os.environ.get("GITLAB_TOKEN"):
        return os.environ["GITLAB_TOKEN"]
    config = pathlib.Path.home() / ".config/glab-cli/config.yml"
    if config.exists():
        found = re.search(r"token:\s*(\S+)", config.read_text())
        if found:
            return found.group(1)
    raise SystemExit("no GitLab token: set GITLAB_TOKEN")

parser = argparse.ArgumentParser()
parser.add_argument("--target", default="main")
args = parser.parse_args()
remote = git("remote", "get-url", "origin") or "git@gitlab.com:group/project.git"
project = re.sub(r"\.git$", "", re.split(r"[:/]", remote, maxsplit=1)[-1]).lstrip("/")
branch = git("rev-parse", "--abbrev-ref", "HEAD") or "feature"
commits = git("log", "--format=- %s", f"{args.target}..HEAD")
body = {"source_branch": branch, "target_branch": args.target,
        "title": commits.splitlines()[0][2:] if commits else branch, "description": commits}
request = urllib.request.Request(
    f"https://gitlab.com/api/v4/projects/{urllib.parse.quote(project, safe='')}/merge_requests",
    data=json.dumps(body).encode(), headers={"PRIVATE-TOKEN": token(), "Content-Type": "application/json"})
with urllib.request.urlopen(request) as answer:
    print(json.load(answer).get("web_url", "created"))
