import json, os, pathlib, sys, urllib.request
key = os.environ.get("ANTHROPIC_API_KEY")
if not key:
    sys.exit("ANTHROPIC_API_KEY is not set")
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "~/Documents").expanduser()
for path in list(folder.glob("*.md")) + list(folder.glob("*.txt")):
    body = {"model": "claude-haiku", "max_tokens": 400, "messages": [{"role": "user", "content": "Summarise:\n\n" + path.read_text(errors="replace")[:20000]}]}
    request = urllib.request.Request("https://api.anthropic.com/v1/messages", data=json.dumps(body).encode(),
        headers={"x-api-key": key, "anthropic-version": "2023-06-01", "content-type": "application/json"})
    answer = json.load(urllib.request.urlopen(request, timeout=60))
    path.with_suffix(".summary.txt").write_text(answer.get("content", [{}])[0].get("text", ""))
    print("summarised", path.name)
