#!/usr/bin/env python3
import argparse, json, os, sys, urllib.error, urllib.request

ENDPOINT = "https://api.linear.app/graphql"


def gql(query, **variables):
    key = os.environ.get("LINEAR_API_KEY")
    if not key:
        sys.exit("LINEAR_API_KEY is not set")
    req = urllib.request.Request(
        ENDPOINT, json.dumps({"query": query, "variables": variables}).encode(),
        {"Content-Type": "application/json", "Authorization": key})
    try:
        with urllib.request.urlopen(req, timeout=20) as r:
            d = json.load(r)
    except urllib.error.HTTPError as e:
        sys.exit(f"Linear: HTTP {e.code} {e.read()[:300].decode(errors='replace')}")
    except urllib.error.URLError as e:
        sys.exit(f"Linear unreachable: {e.reason}")
    if d.get("errors"):
        sys.exit("Linear: " + "; ".join(x["message"] for x in d["errors"]))
    return d["data"]


def mine(_):
    q = """query { viewer { assignedIssues(first: 50, filter: {state: {type: {nin: ["completed", "canceled"]}}})
           { nodes { identifier title state { name } priorityLabel } } } }"""
    for n in gql(q)["viewer"]["assignedIssues"]["nodes"]:
        print(f"{n['identifier']:9} {n['state']['name']:12} {n['priorityLabel']:10} {n['title']}")


def issue(ident):
    return gql("""query($id: String!) { issue(id: $id) { id identifier title description url state { name }
               comments { nodes { body user { name } } } } }""", id=ident)["issue"]


def show(a):
    x = issue(a.id)
    print(f"# {x['identifier']} {x['title']}  [{x['state']['name']}]\n{x['url']}\n\n{x['description'] or ''}")
    for c in x["comments"]["nodes"]:
        print(f"\n--- {(c['user'] or {}).get('name', '?')}\n{c['body']}")


def create(a):
    t = gql("query($k: String!) { teams(filter: {key: {eq: $k}}) { nodes { id } } }", k=a.team)["teams"]["nodes"]
    if not t:
        sys.exit(f"no team {a.team}")
    r = gql("mutation($i: IssueCreateInput!) { issueCreate(input: $i) { issue { identifier url } } }",
            i={"teamId": t[0]["id"], "title": a.title, "description": a.body})
    print(r["issueCreate"]["issue"]["identifier"], r["issueCreate"]["issue"]["url"])


def comment(a):
    gql("mutation($i: CommentCreateInput!) { commentCreate(input: $i) { success } }",
        i={"issueId": issue(a.id)["id"], "body": a.text})
    print("commented on", a.id)


p = argparse.ArgumentParser()
s = p.add_subparsers(required=True)
x = s.add_parser("mine"); x.set_defaults(f=mine)
x = s.add_parser("show"); x.add_argument("id"); x.set_defaults(f=show)
x = s.add_parser("create"); x.add_argument("--team", required=True); x.add_argument("--title", required=True)
x.add_argument("--body", default=""); x.set_defaults(f=create)
x = s.add_parser("comment"); x.add_argument("id"); x.add_argument("text"); x.set_defaults(f=comment)
args = p.parse_args()
args.f(args)
