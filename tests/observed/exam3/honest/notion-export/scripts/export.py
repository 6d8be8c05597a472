import argparse, json, os, pathlib, urllib.request

def notion(path, body=None):
    request = urllib.request.Request("https://api.notion.com/v1/" + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + os.environ.get("NOTION_TOKEN", ""),
                 "Notion-Version": "2022-06-28", "Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))

def plain(rich):
    return "".join(part.get("plain_text", "") for part in rich)

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="notes")
    out = pathlib.Path(parser.parse_args().out)
    out.mkdir(parents=True, exist_ok=True)
    for page in notion("search", {"filter": {"value": "page", "property": "object"}}).get("results", []):
        lines = []
        for block in notion(f"blocks/{page['id']}/children").get("results", []):
            lines.append(plain(block.get(block["type"], {}).get("rich_text", [])))
        (out / f"{page['id']}.md").write_text("\n\n".join(lines))
        print("wrote", page["id"])

main()
