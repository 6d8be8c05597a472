"""A stranger's machine: what three others left out, in the folders of the agents that matter most.

Not a test: a fourth machine, written by somebody who had seen none of the others, and kept to what told metier and an agent
apart or was not there yet. What is made here is the same each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fakes.oddities import HOME, Link, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fakes.oddities import Content

VIEWS = {
    "stranger-root": "repo",
    "stranger-inside": "repo/sub/deep",
    "stranger-outside": "elsewhere",
    "stranger-at-home": f"{HOME}/place",
}
"""From where agents are asked."""

_ROOTS = {
    "hc": f"{HOME}/.claude/skills",
    "ha": f"{HOME}/.agents/skills",
    "hx": f"{HOME}/.codex/skills",
    "hg": f"{HOME}/.gemini/skills",
    "ho": f"{HOME}/.config/opencode/skills",
    "hh": f"{HOME}/.hermes/skills",
    "hd": f"{HOME}/.deepagents/agent/skills",
    "pc": "repo/.claude/skills",
    "pa": "repo/.agents/skills",
    "px": "repo/.codex/skills",
    "pg": "repo/.gemini/skills",
    "po": "repo/.opencode/skills",
    "pd": "repo/.deepagents/skills",
}
_FEW = {
    "sc": "repo/sub/.claude/skills",
    "sa": "repo/sub/.agents/skills",
    "so": "repo/sub/.opencode/skills",
    "dg": "repo/sub/deep/.gemini/skills",
    "da": "repo/sub/deep/.agents/skills",
    "tc": ".claude/skills",
    "ta": ".agents/skills",
    "to": ".opencode/skills",
    "jc": f"{HOME}/place/.claude/skills",
    "ja": f"{HOME}/place/.agents/skills",
    "ec": "elsewhere/.claude/skills",
    "ea": "elsewhere/.agents/skills",
}
"""Folders above, beside and below those."""

_HEADS = {
    "plain": "",
    "utc-stamp": "description: 2026-01-01T10:00:00Z",
    "zero": "description: 0",
    "no-word": "description: no",
    "tab-value": "description:\tAfter a tab",
    "tab-licence": "license:\tMIT",
    "smile": r'description: "Smiles \ud83d\ude00 at you"',
    "half": r'description: "Half \ud800 a sign"',
    "binary": "icon: !!binary aGk=",
    "set": "words: !!set {a, b}",
    "own-tag": "icon: !mine aGk=",
    "two-documents": "---\ndescription: In the second.",
    "yes-name": "name: yes",
    "null-metadata": "metadata: null",
    "list-metadata": "metadata: [a]",
    "short": "metadata: {short-description: Hi}",
    "short-list": "metadata: {short-description: [a]}",
    "off-list": "disable-model-invocation: [true]",
    "off-on": "disable-model-invocation: on",
    "off-comment": "disable-model-invocation: true # by hand",
    "paths-number": "paths: 3",
    "paths-flag": "paths: true",
    "paths-map": "paths: {a: b}",
    "paths-all": 'paths: "**"',
    "paths-all-below": 'paths: ["/**", "**/**"]',
    "paths-any-file": 'paths: ["**/*"]',
    "paths-star": 'paths: "*"',
    "paths-folder": 'paths: "src/**"',
    "paths-empty": 'paths: ""',
    "systems-commas": 'platforms: "macos, linux"',
    "systems-map": "platforms: {linux: true}",
    "systems-upper": "platforms: [Linux]",
    "systems-null": "platforms: null",
    "broken-hint": "argument-hint: [file] [mode]",
    "broken-list": "tags: [a, b",
    "bad-indent": " license: MIT",
    "no-colon": "what is this",
    "space-before-colon": "license : MIT",
    "complex": "sources:\n  - {a: [b, {c: d}]}",
    "many": "\n".join(f"key{number}: value" for number in range(200)),
}
"""What stands in the frontmatter beside a name and a description, or in place of them."""

_SIDECARS = {
    "policy-off": "policy:\n  allow_implicit_invocation: false\n",
    "policy-broken": "policy: [\n",
    "policy-word": 'policy:\n  allow_implicit_invocation: "false"\n',
    "products-strange": "policy:\n  products: [nothing-known]\n",
    "products-ours": "policy:\n  products: [codex]\n",
}


def _head(name: str, said: str, where: str = "here") -> str:
    """Write a SKILL.md; what is said of a field stands in place of the field's ordinary value."""
    lines = [said] if said else []
    for key, value in (("description", f"Does one thing well {where}."), ("name", name)):
        if not said.startswith(f"{key}:"):
            lines.insert(0, f"{key}: {value}")
    return "\n".join(["---", *lines, "---", "", "Text.", ""])


def _texts(label: str) -> Iterator[tuple[str, str]]:
    for name, said in _HEADS.items():
        yield f"{label}-{name}/SKILL.md", _head(f"{label}-{name}", said)
    for name, said in _SIDECARS.items():
        yield f"{label}-{name}/SKILL.md", _head(f"{label}-{name}", "")
        yield f"{label}-{name}/agents/openai.yaml", said
    plain = {
        name: _head(f"{label}-{name}", "") for name in ("yaml-fence", "form-feed", "tab-fence")
    }
    yield f"{label}-yaml-fence/SKILL.md", "---yaml" + plain["yaml-fence"][3:]
    yield f"{label}-form-feed/SKILL.md", plain["form-feed"].replace("\n---\n", "\n---\f\n")
    yield f"{label}-tab-fence/SKILL.md", plain["tab-fence"].replace("---\n", "---\t\n")


def _places(label: str) -> Iterator[tuple[str, Content]]:
    def skill(path: str, name: str, said: str = "") -> tuple[str, bytes]:
        return f"{path}/SKILL.md", _head(name, said, f"in {label}").encode()

    for folder in (".claude-plugin", ".codex-plugin", ".trash", "_drafts", "docs", "lib", "bin"):
        name = f"{label}-in-{folder.strip('._')}"
        yield skill(f"{folder}/{name}", name)
    yield skill(f"{label}-box/SKILL.md/{label}-in-box", f"{label}-in-box")
    yield skill(f"{label}-zz", f"{label}-zz")
    yield f"{label}-aa-link", Link(f"{label}-zz")
    yield f"{label}-through/SKILL.md", Link(f"../{label}-plain/SKILL.md")
    yield f"{label}-out", Link(f"/store/{label}-kept")
    yield skill(f"{label}-swap-a", f"{label}-swap-b")
    yield skill(f"{label}-swap-b", f"{label}-swap-a")
    off = "disable-model-invocation: true"
    yield skill("same", "same")
    yield skill("user-off", "user-off", off if label[0] == "h" else "")
    yield skill("project-off", "project-off", off if label[0] == "p" else "")
    yield skill("user-paths", "user-paths", 'paths: "*.py"' if label[0] == "h" else "")


def make(base: Path) -> None:
    """Make the machine below a folder."""
    write(base, "repo/.git/HEAD", b"ref: refs/heads/main\n")
    write(base, "repo/.git/config", b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    for folder in (*VIEWS.values(), "repo/.git/objects", "repo/.git/refs/heads"):
        (base / folder).mkdir(parents=True, exist_ok=True)
    for label, root in _ROOTS.items():
        for path, text in _texts(label):
            write(base, f"{root}/{path}", text.encode())
        for path, data in _places(label):
            write(base, f"{root}/{path}", data)
        write(base, f"store/{label}-kept/SKILL.md", _head(f"{label}-kept", "").encode())
    for label, root in _FEW.items():
        for name in (f"{label}-plain", "same", "user-off"):
            write(base, f"{root}/{name}/SKILL.md", _head(name, "", f"in {label}").encode())
