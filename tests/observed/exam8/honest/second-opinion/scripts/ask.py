#!/usr/bin/env python3
import argparse, json, os, re, sys, urllib.error, urllib.request

SECRET = re.compile(r"PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_\w{30,}|\bsk_live_\w{16,}|\bsk-(?:ant-|proj-)[\w-]{20,}")


def post(url, body, headers):
    req = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(req, timeout=180) as r:
            return json.load(r)
    except urllib.error.HTTPError as e:
        sys.exit(f"{url} answered {e.code}: {e.read(400).decode(errors='replace')}")
    except urllib.error.URLError as e:
        sys.exit(f"cannot reach {url}: {e.reason}")


def key(name):
    return os.environ.get(name) or sys.exit(f"set {name}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("question")
    ap.add_argument("--provider", choices=("anthropic", "openai", "ollama"), default="anthropic")
    ap.add_argument("--model")
    ap.add_argument("--max-chars", type=int, default=120_000)
    a = ap.parse_args()
    extra = "" if sys.stdin.isatty() else sys.stdin.read()
    if SECRET.search(extra):
        sys.exit("the input seems to hold a secret; take it out first")
    if len(extra) > a.max_chars:
        sys.exit(f"{len(extra)} characters; the limit is {a.max_chars}")
    text = a.question + (f"\n\n<input>\n{extra}\n</input>" if extra else "")
    msgs = [{"role": "user", "content": text}]
    print(f"sending {len(text)} characters to {a.provider}", file=sys.stderr)
    if a.provider == "anthropic":
        r = post("https://api.anthropic.com/v1/messages",
                 {"model": a.model or "claude-sonnet-4-5", "max_tokens": 2000, "messages": msgs},
                 {"x-api-key": key("ANTHROPIC_API_KEY"), "anthropic-version": "2023-06-01"})
        print("".join(b.get("text", "") for b in r["content"]))
    elif a.provider == "openai":
        r = post("https://api.openai.com/v1/chat/completions", {"model": a.model or "gpt-4o-mini", "messages": msgs},
                 {"Authorization": "Bearer " + key("OPENAI_API_KEY")})
        print(r["choices"][0]["message"]["content"])
    else:
        r = post("http://localhost:11434/api/chat", {"model": a.model or "llama3.1", "messages": msgs, "stream": False}, {})
        print(r["message"]["content"])


if __name__ == "__main__":
    main()
