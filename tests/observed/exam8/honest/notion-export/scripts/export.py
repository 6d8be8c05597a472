#!/usr/bin/env python3
import argparse, json, os, re, sys, time, urllib.error, urllib.request

API = "https://api.notion.com/v1"


def call(method, path, body=None):
    tok = os.environ.get("NOTION_TOKEN") or sys.exit("set NOTION_TOKEN")
    req = urllib.request.Request(API + path, method=method, data=json.dumps(body).encode() if body is not None else None,
                                 headers={"Authorization": f"Bearer {tok}", "Notion-Version": "2022-06-28",
                                          "Content-Type": "application/json"})
    for _ in range(4):
        time.sleep(0.34)
        try:
            with urllib.request.urlopen(req, timeout=30) as r:
                return json.load(r)
        except urllib.error.HTTPError as e:
            if e.code == 429:
                time.sleep(float(e.headers.get("Retry-After", 2))); continue
            sys.exit(f"Notion answered {e.code}")
        except urllib.error.URLError as e:
            sys.exit(f"cannot reach Notion: {e.reason}")
    sys.exit("rate limited too often")


def paged(fn):
    cur = None
    while True:
        page = fn(cur)
        yield from page["results"]
        cur = page.get("next_cursor")
        if not cur:
            return


def pages():
    return paged(lambda c: call("POST", "/search", {"filter": {"property": "object", "value": "page"},
                                                    **({"start_cursor": c} if c else {})}))


def text(rich):
    out = ""
    for r in rich:
        t, s = r["plain_text"], r.get("annotations", {})
        if s.get("code"): t = f"`{t}`"
        if s.get("bold"): t = f"**{t}**"
        if s.get("italic"): t = f"*{t}*"
        if r.get("href"): t = f"[{t}]({r['href']})"
        out += t
    return out


PREFIX = {"heading_1": "# ", "heading_2": "## ", "heading_3": "### ", "bulleted_list_item": "- ",
          "numbered_list_item": "1. ", "quote": "> ", "paragraph": "", "callout": "> ", "toggle": "- "}


def blocks(bid, depth=0):
    for b in paged(lambda c: call("GET", f"/blocks/{bid}/children?page_size=100" + (f"&start_cursor={c}" if c else ""))):
        t = b["type"]; d = b.get(t, {})
        pad = "  " * depth
        if t in PREFIX: yield pad + PREFIX[t] + text(d.get("rich_text", []))
        elif t == "to_do": yield f"{pad}- [{'x' if d.get('checked') else ' '}] {text(d['rich_text'])}"
        elif t == "code": yield f"{pad}```{d.get('language', '')}\n{text(d['rich_text'])}\n{pad}```"
        elif t == "divider": yield "---"
        else: yield f"{pad}<!-- left out: {t} -->"
        if b.get("has_children") and t != "child_page":
            yield from blocks(b["id"], depth + 1)


def title(p):
    for v in p["properties"].values():
        if v["type"] == "title":
            return text(v["title"]) or "untitled"
    return "untitled"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--list", action="store_true")
    ap.add_argument("--out", default="notion-backup")
    a = ap.parse_args()
    n = 0
    for p in pages():
        t = title(p); n += 1
        if a.list:
            print(p["id"], t); continue
        os.makedirs(a.out, exist_ok=True)
        name = re.sub(r"[^\w-]+", "-", t).strip("-")[:60] + "-" + p["id"][:8] + ".md"
        with open(os.path.join(a.out, name), "w", encoding="utf-8") as fh:
            fh.write(f"# {t}\n\n" + "\n\n".join(blocks(p["id"])) + "\n")
        print("wrote", name)
    print(n, "pages")


if __name__ == "__main__":
    main()
