"""Two hundred skills that were made to break out of a page: payloads in every place that a page shows.

Each payload would set `window.pwned`, open a dialog, go elsewhere, or ask another host for something, if a page let
it do anything at all.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from fakes.plugs import document

from metier.audit import log
from metier.errors import MetierError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fakes.plugs import Plugs

CANARY = "http://canary.invalid"
"""A host that nobody has: whoever asks for it was made to."""
ACT = "window.pwned=1"

SCRIPTS = (
    f"<script>{ACT}</script>",
    f'"><script>{ACT}</script>',
    f"'><img src=x onerror={ACT}>",
    f"</title></textarea></style></pre><script>{ACT}</script>",
    f'"onfocus="{ACT}" autofocus tabindex="1" x="',
    f"' onmouseover='{ACT}' style='position:fixed;inset:0' x='",
    f"<svg/onload={ACT}>",
    f"<svg><animate onbegin={ACT} attributeName=x dur=1s>",
    f"<details open ontoggle={ACT}>x</details>",
    f"<img src={CANARY}/img><iframe src={CANARY}/frame></iframe>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    f"<object data={CANARY}/o></object><embed src={CANARY}/e>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={ACT}></style></table></mtext></math>",
    f"<noscript><p title='</noscript><img src=x onerror={ACT}>'></noscript>",
    f"<template><script>{ACT}</script></template><script nonce=a src=/static/metier.js>{ACT}</script>",
    "<script>alert(1)</script><script>confirm(1)</script>",
)
MARKUP = (
    f"<meta http-equiv=refresh content='0;url={CANARY}/refresh'>",
    f"<base href={CANARY}/>",
    f"<link rel=stylesheet href={CANARY}/s.css><style>@import '{CANARY}/i.css';body{{display:none}}</style>",
    f'" style="background:url({CANARY}/css)" x="',
    f"<form id=search action={CANARY}><input name=form_key value=x><button id=q>Approve</button></form>",
    "<a id=main name=news>m</a><img name=form_key id=output><form id=document name=forms><input name=attributes>",
    "<p data-live data-state=9 data-stream=/jobs/x/stream class=skip>live</p>",
    f"<div hx-get={CANARY}/hx hx-trigger=load hx-on:htmx:load={ACT} hx-vals='js:{{x:{ACT}}}'></div>",
    f'<div data-hx-get="{CANARY}/dhx" data-hx-trigger="load" hx-ext="x" hx-disable></div>',
    "{{7*7}} {% raw %}{{ request.app.state.site.gate.token }}{% endraw %} ${7*7} #{7*7} <%= 7*7 %>",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}{% include '/etc/passwd' %}",
    "__proto__ constructor prototype toString hasOwnProperty valueOf",
    f"--><!--><script>{ACT}</script><!--",
    f"]]><![CDATA[<script>{ACT}</script>]]>",
    "&lt;script&gt;window.pwned=1&lt;/script&gt; &#60;img src=x onerror=window.pwned=1&#62;",
)
SPELLINGS = (
    "\u202e<script>window.pwned=1</script>\u202c\u2066\u2067\u200f",
    "\u200b\u200c\u200d\ufeff\u00ad\U000e0041\U000e0042 <img src=x onerror=window.pwned=1>",
    "\uff1cscript\uff1ewindow.pwned=1\uff1c/script\uff1e \u02bconerror=\u02bc",
    "<\x0cscript\x0c>window.pwned=1</script\x0c>\x1b[2J\x07",
    "<scr\u0000ipt>window.pwned=1</scr\u0000ipt>",
    "+ADw-script+AD4-window.pwned=1+ADw-/script+AD4-",
)
PAYLOADS = (*SCRIPTS, *MARKUP, *SPELLINGS)

ADDRESSES = (
    "javascript:window.pwned=1",
    "JaVaScRiPt:window.pwned=1",
    "  javascript:window.pwned=1",
    "java\tscript:window.pwned=1",
    "java%0Ascript:window.pwned=1",
    "javascript&colon;window.pwned=1",
    "&#106;avascript&#58;window.pwned=1",
    "&#x6A;&#x61;vascript&Tab;:window.pwned=1",
    "\x01javascript:window.pwned=1",
    "javascript://%0awindow.pwned=1",
    "vbscript:window.pwned",
    "data:text/html,<script>parent.pwned=1</script>",
    "data:text/html;base64,PHNjcmlwdD5wYXJlbnQucHduZWQ9MTwvc2NyaXB0Pg==",
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='window.pwned=1'/>",
    "view-source:javascript:window.pwned=1",
    "blob:null/window.pwned",
    "filesystem:http://canary.invalid/x",
    "file:///etc/passwd",
    f"{CANARY}/link",
    "//canary.invalid/scheme-less",
    "\\\\canary.invalid\\share",
    "/\\canary.invalid/x",
    "/%5Ccanary.invalid/x",
    "https:canary.invalid/one-slash",
    "http:\\\\canary.invalid",
    "https://127.0.0.1@canary.invalid/user",
    "/skills/../../leave?to=javascript:window.pwned=1",
    "/leave?to=javascript:window.pwned=1",
    "?token=x",
    "../../../../etc/passwd",
    "%2e%2e/%2e%2e/etc/passwd",
    "SKILL.md/../../x",
    "#main",
    '#"><img src=x onerror=window.pwned=1>',
    "mailto:a@canary.invalid?body=<script>window.pwned=1</script>",
    "intent://canary.invalid#Intent;end",
    "ms-msdt:/id",
)


def field(text: str) -> str:
    """Write a text as one value of frontmatter, whatever is in it."""
    return json.dumps(text, ensure_ascii=False).replace("\0", "\\0").replace("\x7f", "\\x7f")


def head(name: str, description: str, more: str = "") -> str:
    """Write a frontmatter."""
    return f"---\nname: {field(name)}\ndescription: {field(description)}\n{more}---\n"


# --- one place each


def in_frontmatter(folder: Path, at: int, payload: str) -> None:
    """Put a payload into everything that stands before the instructions."""
    more = "".join(
        f"{key}: {field(payload)}\n"
        for key in (
            "license",
            "compatibility",
            "category",
            "version",
            "author",
            "argument-hint",
            "model",
        )
    )
    more += f"tags: [{field(payload)}, {field(payload)}]\nallowed-tools: {field(payload)}\n"
    more += f"metadata:\n  {field(payload)}: {field(payload)}\n  category: {field(payload)}\n"
    write(folder, head(f"{payload} {at}", f"{payload} Use it for {payload}", more) + "\nSteps.\n")


def in_markdown(folder: Path, at: int, payload: str) -> None:
    """Put a payload into every form that Markdown has."""
    quiet = payload.replace("\n", " ")
    body = f"""
# {quiet}

{quiet}
{"=" * 20}

Words {payload} and *{payload}* and **{payload}** and ~~{payload}~~ and `{quiet}`.

{payload}

<div>
{payload}
</div>

[{quiet}](a.md "{quiet}") ![{quiet}](b.png "{quiet}") <{quiet}> [one][{quiet}] [two]

[two]: <{quiet}> "{quiet}"
[{quiet}]: {CANARY}/reference '{quiet}'

```{quiet}
{payload}
```

~~~html {quiet}
{payload}
~~~

| {quiet} | b |
|:--|--:|
| {quiet} | [x]({CANARY}/cell) |

1. {payload}
   - {payload}
     > {payload}

    {payload}

Term[^1]

[^1]: {payload}
"""
    write(folder, head(f"markdown-{at}", "Shows words. Use it to read them.") + body)


def in_addresses(folder: Path, at: int, address: str) -> None:
    """Link to an address in every way."""
    body = f"""
[plain]({address}) [angled](<{address}>) [titled](<{address}> "t") ![image]({address}) ![angled](<{address}>)
<{address}> [ref][r] [r] ![r] [escaped]({address.replace("(", "%28").replace(")", "%29")})

[r]: <{address}> "title"
[s]: {address}

[![nested]({address})](<{address}>) <a href="{address}">html</a> {address}

| a |
|---|
| [cell](<{address}>) |
"""
    write(folder, head(f"address-{at}", "Links. Use it to go there.") + body)


def in_files(folder: Path, at: int, payload: str) -> None:
    """Put a payload into the names of files and into the files themselves."""
    write(folder, head(f"files-{at}", "Has files. Use it for them.") + "\nSee [it](notes.md).\n")
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{ACT}">{payload}</svg>'
    contents = {
        "notes.md": f"# {payload}\n\n{payload}\n",
        "picture.svg": svg,
        "page.html": f"<!doctype html><html>{payload}</html>",
        "code.js": f"{ACT};// {payload}\n",
        "sheet.css": f"body{{background:url({CANARY}/f)}}/*{payload}*/",
        "scripts/go.py": f"#!/usr/bin/env python3\n# {payload}\nprint({payload!r})\n",
        "data.json": json.dumps({payload: payload}),
        "fake.png": f"GIF89a/*{payload}*/=1;{ACT}",
    }
    for name, text in contents.items():
        put(folder / name, text.encode("utf-8", "surrogatepass"))
    plain = payload.replace("/", "\u2215").replace("\0", "")
    odd = plain.encode()[:180].decode("utf-8", "ignore")
    put(folder / f"{odd}.txt", payload.encode())
    put(folder / odd[:60] / f"{odd[:60]}.md", payload.encode())


def in_needs(folder: Path, at: int, payload: str) -> None:
    """Put a payload into what a skill says that it needs, and into the name of its folder."""
    more = f"""required_environment_variables:
  - name: A_KEY
    prompt: {field(payload)}
    help: {field(payload)}
    required_for: {field(payload)}
  - {field(payload)}
required_credential_files:
  - path: {field(payload)}
    description: {field(payload)}
prerequisites:
  commands: [{field(payload)}]
  env_vars: [{field(payload)}]
setup:
  help: {field(payload)}
metadata:
  hermes:
    tags: [{field(payload)}]
    category: {field(payload)}
    requires_tools: [{field(payload)}]
    config:
      - key: {field(payload)}
        description: {field(payload)}
        prompt: {field(payload)}
  openclaw:
    requires:
      bins: [{field(payload)}]
      env: [{field(payload)}]
"""
    write(
        folder,
        head(f"needs-{at}", f"Needs {payload}", more) + f"\n## {payload}\n\nRun `{payload}`.\n",
    )
    put(
        folder / "agents" / "openai.yaml",
        f"interface:\n  display_name: {field(payload)}\n".encode(),
    )


def write(folder: Path, text: str) -> None:
    """Write a skill's own file."""
    put(folder / "SKILL.md", text.encode("utf-8", "surrogatepass"))


def put(path: Path, data: bytes) -> None:
    """Write a file; what no file can be called is left out."""
    with contextlib.suppress(OSError, ValueError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


# --- those that are odd as a whole


def _many_files(folder: Path) -> None:
    write(folder, head("many-files", "Has very many files. Use it."))
    for part in range(50):
        (folder / f"part-{part}").mkdir(parents=True, exist_ok=True)
        for number in range(100):
            (folder / f"part-{part}" / f"<b>{number}\u202e.txt").write_bytes(b"x")


def _odd_names(folder: Path) -> None:
    write(folder, head("odd-names", "Has oddly named files. Use it."))
    for name in (
        b"new\nline.txt",
        b"tab\tand\rreturn.txt",
        b"\xff\xfe not utf-8.txt",
        b"..%2f..%2fetc%2fpasswd",
        b"%2e%2e",
        b"%00.txt",
        b"a?b#c.txt",
        b"-rf",
        b"\\\\host\\share",
        b"C:\\x.txt",
        "\u202egnp.exe".encode(),
        b"con.md",
        b" space .md",
        b"__proto__",
        b"quo'te\"s.md",
        b"java\nscript:window.pwned=1",
        b"javascript:window.pwned=1",
        b"{{7*7}}.md",
        b"x" * 250 + b".md",
    ):
        with contextlib.suppress(OSError):
            Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(SCRIPTS[0].encode())


def _special_files(folder: Path) -> None:
    write(folder, head("special-files", "Has files that are none. Use it."))
    os.mkfifo(folder / "pipe.md")
    (folder / "out.md").symlink_to("/etc/passwd")
    (folder / "home").symlink_to(Path.home())
    (folder / "loop.md").symlink_to("loop.md")


def _deep_files(folder: Path) -> None:
    write(folder, head("deep-files", "Has deep folders. Use it."))
    for start in ("one", "two"):
        put(folder / start / Path(*["d"] * 45) / "same.sh", f"echo {start}\n".encode())


def texts() -> Mapping[str, bytes]:
    """Give whole files that are odd in one way each."""
    words = head("odd", "Is odd. Use it.").encode()
    long = SCRIPTS[0] * (100_000 // len(SCRIPTS[0]))
    row = "|" + " <b>x</b> |" * 60 + "\n"
    return {
        "long-line": words + long.encode(),
        "long-description": head("x" * 3_000, long).encode(),
        "deep-quotes": words + b">" * 20_000 + b" x\n",
        "deep-lists": words + b"".join(b"  " * n + b"- <script>\n" for n in range(400)),
        "deep-brackets": words + b"[" * 20_000 + b"](x)" * 2_000,
        "deep-stars": words + b"*a **b " * 8_000,
        "backticks": words + b" ".join(b"`" * (n % 300) for n in range(400)),
        "huge-table": words + (row + "|" + "--|" * 60 + "\n" + row * 1_500).encode(),
        "many-references": words
        + b"".join(b"[r%d]: javascript:pwned=1\n[r%d] " % (n, n) for n in range(700)),
        "binary": words + bytes(range(256)) * 200,
        "nul": words + b"<scr\0ipt>window.pwned=1</scr\0ipt>\0" * 100,
        "no-utf-8": words + b"\xff\xfe\xc0\xaf<script>window.pwned=1</script>\xed\xa0\x80\xf5" * 50,
        "surrogates": b'---\nname: "\\ud800<b>\\udfff"\ndescription: "\\ud83d \\udc00<script>"\n---\nx\n',
        "utf-16": "\ufeff---\nname: x\ndescription: <script>window.pwned=1</script>\n---\n".encode(
            "utf-16"
        ),
        "utf-7": words + b"+ADw-script+AD4-window.pwned=1+ADw-/script+AD4-",
        "unseen": words + ("\u200b\u202ea" * 4_000).encode(),
        "no-head": f"{SCRIPTS[1]}\n\n# {SCRIPTS[2]}\n".encode(),
        "broken-head": b"---\nname: [<script>\ndescription: {{7*7}}: : <b>\n---\n"
        + SCRIPTS[0].encode(),
        "yaml-tricks": b"---\nname: !!python/object/apply:os.system ['x']\ndescription: &a [*a, <script>]\n---\nx",
        "constructor": head("constructor", "__proto__").encode()
        + b"\n# constructor\n# __proto__\n# main\n# q\n",
        "lone-returns": words + b"a\r<script>window.pwned=1</script>\rb\r\r" * 200,
        "entities": words
        + b"&#60;script&#62;window.pwned=1&#60;/script&#62;&lt&amp;lt;&NewLine;&Tab;" * 200,
    }


FOLDERS: Mapping[str, Callable[[Path], None]] = {
    "many-files": _many_files,
    "odd-names": _odd_names,
    "special-files": _special_files,
    "deep-files": _deep_files,
}


def write_all(root: Path) -> int:
    """Write all of them below a folder of skills; give how many there are."""
    count = 0
    for place in (in_frontmatter, in_markdown, in_files, in_needs):
        for at, payload in enumerate(PAYLOADS):
            folder = root / f"{place.__name__.removeprefix('in_')}-{at}"
            if place is in_needs:
                plain = payload.replace("/", "\u2215").replace("\0", "").encode()[:120]
                folder = root / f"{at} {plain.decode('utf-8', 'ignore')}"
            folder.mkdir(parents=True)
            place(folder, at, payload)
            count += 1
    for at, address in enumerate(ADDRESSES):
        folder = root / f"address-{at}"
        folder.mkdir()
        in_addresses(folder, at, address)
        count += 1
    for name, data in texts().items():
        put(root / name / "SKILL.md", data)
        count += 1
    for name, make in FOLDERS.items():
        (root / name).mkdir()
        make(root / name)
        count += 1
    return count


# --- what else a stranger may have written


def write_records(plugs: Plugs) -> None:
    """Have payloads stand in a plugin, in its updates, in agents' drafts, in decisions and in the audit log."""
    plugs.configure('[manage]\nreview = "always"\n')
    _release(plugs, "1.0", SCRIPTS[0])
    plugs.enable()
    (copy,) = (plugs.project / ".agents" / "skills").glob("alpha/SKILL.md")
    copy.write_text(copy.read_text().replace("Line 3 ", f"My line 3 {SCRIPTS[1]} "))
    _release(plugs, f"1.1{SCRIPTS[1]}", "".join(SPELLINGS[:2]))
    plugs.sync()
    cache = plugs.home / ".claude" / "plugins" / "cache"
    for at, payload in enumerate(PAYLOADS):
        folder = cache / "shop" / f"kit-{at}" / "1"
        put(
            folder / ".claude-plugin" / "plugin.json",
            json.dumps({"name": payload, "version": payload, "description": payload}).encode(),
        )
        write(folder / "skills" / f"plugged-{at}", head(f"plugged-{at}", payload))
    own = plugs.home / ".agents" / "skills" / "notes"
    write(own, head("notes", "Writes notes. Use it for notes.") + "\nWrite the note down.\n")
    with plugs.open() as m:
        for payload in PAYLOADS:
            with contextlib.suppress(MetierError):
                m.manage("patch", "notes", old="down", new=f"down\n\n{payload}\n")
            with contextlib.suppress(MetierError):
                m.manage("create", f"new{len(payload)}", content=head("new", payload) + payload)
            log.record(
                m.context, payload, payload, name=payload, source=payload, **{payload: payload}
            )
        for verb in ("approve", "quarantine", "block", "unblock"):
            m.trust(str(own), verb, reason=f"{verb} {SCRIPTS[1]}\u202e", accept_dangerous=True)


def _release(plugs: Plugs, version: str, payload: str) -> None:
    text = document("alpha").replace("Line 3 ", f"{payload} 3 ").replace("Line 9 ", f"{payload} ")
    plugs.release(version, alpha=text, beta=document("beta"))


def bend_log(data: Path) -> None:
    """Add lines to the audit log that nobody who knows it would write."""
    (file,) = (
        one for one in (data / "audit").iterdir() if one.suffix in {".jsonl", ".log", ".ndjson"}
    )
    last = json.loads(file.read_bytes().splitlines()[-1])
    odd: list[object] = [
        {**last, "name": 5}, {**last, "details": [SCRIPTS[0]]}, {**last, "ts": None}, {**last, "event": {"a": SCRIPTS[0]}},
        {"name": SCRIPTS[0]}, [], SCRIPTS[0], None, {**last, "details": {SCRIPTS[0]: {SCRIPTS[1]: [SCRIPTS[2]]}}},
        {**last, "name": "\ud800", "who": "\udfff"},
    ]  # fmt: skip
    with file.open("ab") as out:
        out.write(b"".join(json.dumps(one).encode() + b"\n" for one in odd))
        out.write(b"\xff\xfe\0" + SCRIPTS[0].encode() + b"\n{half")
