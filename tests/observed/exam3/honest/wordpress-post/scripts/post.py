import base64, json, os, re, sys, urllib.request
if len(sys.argv) < 2 or not os.path.exists(sys.argv[1]):
    sys.exit("usage: post.py FILE.md")
text = open(sys.argv[1]).read()
title = re.search(r"^# (.+)", text, re.M)
site = os.environ.get("WP_URL", "https://blog.example.org")
login = f"{os.environ.get('WP_USER', '')}:{os.environ.get('WP_APP_PASSWORD', '')}"
body = json.dumps({"title": title.group(1) if title else sys.argv[1], "content": text, "status": "draft"}).encode()
request = urllib.request.Request(site + "/wp-json/wp/v2/posts", data=body, headers={
    "Content-Type": "application/json", "Authorization": "Basic " + base64.b64encode(login.encode()).decode()})
print(json.load(urllib.request.urlopen(request)).get("link"))
