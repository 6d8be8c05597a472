#!/usr/bin/env python3
import argparse
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

BASE = "https://api.notion.com/v1"


def api(path, body=None):
    token = os.environ.get("NOTION_TOKEN")
    if not token:
        sys.exit("NOTION_TOKEN is not set")
    req = urllib.request.Request(
        BASE + path, data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Notion-Version": "2022-06-28",
                 "Content-Type": "application/json"})
    time.sleep(0.35)
    try:
        with urllib.request.urlopen(req, timeout=30) as r:
            return json.load(r)
    except urllib.error.HTTPError as e:
        sys.exit(f"Notion {e.code} for {path}: {e.read().decode()[:200]}")
    except urllib.error.URLError as e:
        sys.exit(f"Cannot reach Notion: {e.reason}")


def ident(text):
    m = re.search(r"([0-9a-f]{32})", text.replace("-", ""))
    if not m:
        sys.exit(f"no Notion id in {text!r}")
    return m.group(1)


def rich(items):
    out = []
    for it in items:
        s, a = it["plain_text"], it.get("annotations", {})
        if a.get("code"):
            s = f"`{s}`"
        if a.get("bold"):
            s = f"**{s}**"
        if a.get("italic"):
            s = f"*{s}*"
        if it.get("href"):
            s = f"[{s}]({it['href']})"
        out.append(s)
    return "".join(out)


def children(block_id):
    cursor = ""
    while True:
        res = api(f"/blocks/{block_id}/children?page_size=100" + (f"&start_cursor={cursor}" if cursor else ""))
        yield from res["results"]
        if not res["has_more"]:
            return
        cursor = res["next_cursor"]


PREFIX = {"heading_1": "# ", "heading_2": "## ", "heading_3": "### ", "paragraph": "",
          "bulleted_list_item": "- ", "numbered_list_item": "1. ", "quote": "> ", "callout": "> ", "toggle": "- "}


def render(block_id, depth=0):
    lines = []
    for b in children(block_id):
        kind, data, pad = b["type"], b[b["type"]], "  " * depth
        if kind in PREFIX:
            lines.append(pad + PREFIX[kind] + rich(data.get("rich_text", [])))
        elif kind == "to_do":
            lines.append(f"{pad}- [{'x' if data['checked'] else ' '}] {rich(data['rich_text'])}")
        elif kind == "code":
            lines += [f"```{data.get('language', '')}", rich(data["rich_text"]), "```"]
        elif kind == "divider":
            lines.append("---")
        else:
            lines.append(f"{pad}<!-- notion block: {kind} -->")
        if b.get("has_children") and kind not in ("child_page", "child_database"):
            lines += render(b["id"], depth + 1)
        if depth == 0 and not kind.endswith("list_item"):
            lines.append("")
    return lines


def title_of(page):
    for prop in page["properties"].values():
        if prop["type"] == "title":
            return rich(prop["title"]) or "untitled"
    return "untitled"


def save(page, out):
    title = title_of(page)
    path = out / ((re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or page["id"]) + ".md")
    edited = page["last_edited_time"]
    if path.exists() and f"edited: {edited}" in path.read_text()[:400]:
        print(f"unchanged  {path}")
        return
    head = ["---", f"id: {page['id']}", f"title: {json.dumps(title)}", f"edited: {edited}", "---", ""]
    path.write_text("\n".join(head + render(page["id"])) + "\n")
    print(f"written    {path}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("kind", choices=["page", "database"])
    ap.add_argument("id")
    ap.add_argument("-o", "--out", type=Path, default=Path("notes"))
    a = ap.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    if a.kind == "page":
        save(api(f"/pages/{ident(a.id)}"), a.out)
        return
    body = {"page_size": 100}
    while True:
        res = api(f"/databases/{ident(a.id)}/query", body)
        for page in res["results"]:
            save(page, a.out)
        if not res["has_more"]:
            break
        body["start_cursor"] = res["next_cursor"]


if __name__ == "__main__":
    main()
