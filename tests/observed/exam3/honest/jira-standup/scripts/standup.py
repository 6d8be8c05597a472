import base64, json, os, sys, urllib.parse, urllib.request

url = os.environ.get("JIRA_URL", "https://acme.atlassian.net")
email, token = os.environ.get("JIRA_EMAIL", ""), os.environ.get("JIRA_API_TOKEN", "")
if not token:
    print("JIRA_API_TOKEN is not set", file=sys.stderr)
    sys.exit(2)
jql = "assignee = currentUser() AND updated >= -1d ORDER BY updated DESC"
request = urllib.request.Request(f"{url}/rest/api/3/search?jql={urllib.parse.quote(jql)}&fields=summary,status")
request.add_header("Authorization", "Basic " + base64.b64encode(f"{email}:{token}".encode()).decode())
data = json.load(urllib.request.urlopen(request, timeout=20))
for issue in data.get("issues", []):
    print(f"- {issue['key']} {issue['fields']['summary']} ({issue['fields']['status']['name']})")
