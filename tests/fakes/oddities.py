"""A machine full of odd skills: a home, a repository with a folder inside it, and a place outside any.

Not a test: the benchmark asks real agents what they see of it, and the tests hold metier to what they said. What is made
here is the same each time, so that an answer that was written down stays comparable.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from metier.standard.needs import POLICY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.library import Library


class Link(NamedTuple):
    """A symbolic link to be made."""

    target: str


Content = bytes | Link
Files = dict[str, Content]

HOME, REPOSITORY, OUTSIDE = "home", "repo", "loose/place"
INSIDE = f"{REPOSITORY}/pkg/app"
VIEWS = {"root": REPOSITORY, "subfolder": INSIDE, "outside": OUTSIDE}
"""From where agents are asked."""

_MINE = "Text of the body."
_LONG = "long " * 20_000


def _skill(name: str, *more: str, description: str | None = None, body: str = _MINE) -> bytes:
    """Write an ordinary SKILL.md; `more` are lines of its frontmatter."""
    said = f"Does {name}." if description is None else description
    lines = ["---", f"name: {name}", f"description: {said}", *more, "---", "", body, ""]
    return "\n".join(lines).encode()


def _head(*lines: str, body: str = _MINE) -> bytes:
    """Write a SKILL.md with exactly these lines of frontmatter."""
    return "\n".join(["---", *lines, "---", "", body, ""]).encode()


def _places(label: str) -> Files:
    """Give skills that are ordinary but for where they lie."""

    def at(path: str, odd: str) -> tuple[str, bytes]:
        return f"{path}/SKILL.md", _skill(f"{label}-{odd}")

    return dict(
        [
            at(f"{label}-plain", "plain"),
            at(f"two/{label}-in-two", "in-two"),
            at(f"two/three/{label}-in-three", "in-three"),
            at(f"d1/d2/d3/{label}-in-four", "in-four"),
            at(f"d1/d2/d3/d4/{label}-in-five", "in-five"),
            at(f"d1/d2/d3/d4/d5/{label}-in-six", "in-six"),
            at(f"d1/d2/d3/d4/d5/d6/{label}-in-seven", "in-seven"),
            at(f"d1/d2/d3/d4/d5/d6/d7/d8/d9/d10/d11/d12/{label}-in-thirteen", "in-thirteen"),
            at(f".{label}-dot", "dot"),
            at(f".dots/{label}-in-dots", "in-dots"),
            at(f".archive/{label}-in-archive", "in-archive"),
            at(f".git/{label}-in-git", "in-git"),
            at(f".hub/{label}-in-hub", "in-hub"),
            at(f"node_modules/{label}-in-modules", "in-modules"),
            at(f"node_modules/deep/{label}-deep-in-modules", "deep-in-modules"),
            at(f"venv/{label}-in-venv", "in-venv"),
            at(f".venv/{label}-in-dot-venv", "in-dot-venv"),
            at(f"site-packages/{label}-in-site", "in-site"),
            at(f"__pycache__/{label}-in-pycache", "in-pycache"),
            at(f"dist/{label}-in-dist", "in-dist"),
            at(f"build/{label}-in-build", "in-build"),
            at(f"vendor/{label}-in-vendor", "in-vendor"),
            at("node_modules", "called-modules"),
            at(f"{label}-outer", "outer"),
            at(f"{label}-outer/{label}-inner", "inner"),
            at(f"{label}-outer/deep/{label}-inner-deep", "inner-deep"),
            at(f"{label}-outer/references/{label}-in-references", "in-references"),
            at(f"{label}-outer/scripts/{label}-in-scripts", "in-scripts"),
            at(f"{label}-outer/assets/{label}-in-assets", "in-assets"),
            at(f"{label}-outer/templates/{label}-in-templates", "in-templates"),
            at(f"{label}-outer/skills/{label}-in-skills", "in-skills"),
            at(f"references/{label}-below-references", "below-references"),
            at(f"scripts/{label}-below-scripts", "below-scripts"),
            at(f"templates/{label}-below-templates", "below-templates"),
            at(f"With Spaces {label}", "spaced-folder"),
            at(f"{label}-Upper-Folder", "upper-folder"),
            at(f"{label}-ünïcode", "unicode-folder"),
            at(f"{label}.with.dots", "dotted-folder"),
            at(f"{label}_under_score", "under-folder"),
            at(f"{label}-100%", "percent-folder"),
            at(f"_{label}-underscored", "underscored"),
            at(f"{label}-bak~", "tilde-folder"),
        ]
    )


def _links(label: str) -> Files:
    """Give skills that are reached by links. What they lead to lies in `store` of the same label, outside any root."""
    store = f"/store/{label}"
    return {
        f"{label}-linked": Link(f"{store}/{label}-linked"),
        f"{store}/{label}-linked/SKILL.md": _skill(f"{label}-linked"),
        f"two/{label}-linked-in-two": Link(f"{store}/{label}-linked-in-two"),
        f"{store}/{label}-linked-in-two/SKILL.md": _skill(f"{label}-linked-in-two"),
        f"{label}-category-link": Link(f"{store}/category"),
        f"{store}/category/{label}-in-linked/SKILL.md": _skill(f"{label}-in-linked"),
        f"{store}/category/more/{label}-deep-in-linked/SKILL.md": _skill(f"{label}-deep-in-linked"),
        f"{label}-again": Link(f"{label}-plain"),
        f"{label}-other-name": Link(f"{store}/{label}-real-name"),
        f"{store}/{label}-real-name/SKILL.md": _skill(f"{label}-real-name"),
        f".{label}-dot-link": Link(f"{store}/{label}-dot-linked"),
        f"{store}/{label}-dot-linked/SKILL.md": _skill(f"{label}-dot-linked"),
        f"{label}-broken": Link(f"{store}/nothing"),
        f"{label}-loop/{label}-round": Link("."),
        f"{label}-loop/SKILL.md": _skill(f"{label}-loop"),
        f"circle/{label}-in-circle/SKILL.md": _skill(f"{label}-in-circle"),
        "circle/back": Link("."),
        f"{label}-linked-file/SKILL.md": Link(f"{store}/linked-file.md"),
        f"{store}/linked-file.md": _skill(f"{label}-linked-file"),
        f"{label}-linked-beside/SKILL.md": Link("OTHER.md"),
        f"{label}-linked-beside/OTHER.md": _skill(f"{label}-linked-beside"),
        f"{label}-broken-file/SKILL.md": Link(f"{store}/nothing.md"),
        f"{label}-flat-link.md": Link(f"{store}/linked-file.md"),
    }


def _names_of_files(label: str) -> Files:
    """Give skills whose file is not called as the standard says."""
    return {
        f"{label}-flat.md": _skill(f"{label}-flat"),
        f"two/{label}-flat-in-two.md": _skill(f"{label}-flat-in-two"),
        f"{label}-flat-upper.MD": _skill(f"{label}-flat-upper"),
        f"{label}-flat-bare.md": b"# Heading\n\nA flat file without frontmatter.\n",
        f"{label}-lower/skill.md": _skill(f"{label}-lower"),
        f"{label}-mixed/Skill.md": _skill(f"{label}-mixed"),
        f"{label}-loud/SKILL.MD": _skill(f"{label}-loud"),
        f"{label}-both/SKILL.md": _skill(f"{label}-both"),
        f"{label}-both/skill.md": _skill(f"{label}-both-lower"),
        f"{label}-markdown/SKILL.markdown": _skill(f"{label}-markdown"),
        f"{label}-readme/README.md": _skill(f"{label}-readme"),
        f"{label}-empty-folder/notes.txt": b"Nothing here.\n",
        f"{label}-folder-file/SKILL.md/inner.md": b"A folder called SKILL.md.\n",
    }


def _texts(label: str) -> Files:
    """Give skills whose text as a whole is odd."""

    def own(odd: str) -> bytes:
        return _skill(f"{label}-{odd}")

    odd: dict[str, bytes] = {
        "bom": b"\xef\xbb\xbf" + own("bom"),
        "bom-crlf": b"\xef\xbb\xbf" + own("bom-crlf").replace(b"\n", b"\r\n"),
        "crlf": own("crlf").replace(b"\n", b"\r\n"),
        "cr": own("cr").replace(b"\n", b"\r"),
        "blank-first": b"\n" + own("blank-first"),
        "spaces-first": b"   \n\n" + own("spaces-first"),
        "text-first": b"Some words.\n" + own("text-first"),
        "comment-first": b"<!-- a comment -->\n" + own("comment-first"),
        "indented-fence": b" " + own("indented-fence"),
        "fence-spaces": own("fence-spaces").replace(b"---\n", b"---  \n"),
        "four-dashes": own("four-dashes").replace(b"---\n", b"----\n"),
        "dots-close": own("dots-close").replace(b"\n---\n", b"\n...\n"),
        "indented-close": own("indented-close").replace(b"\n---\n", b"\n  ---\n"),
        "plus-fence": own("plus-fence").replace(b"---\n", b"+++\n"),
        "no-blank-after": own("no-blank-after").replace(b"---\n\n", b"---\n"),
        "no-body": own("no-body").partition(b"\n\n")[0] + b"\n",
        "no-newline-at-end": own("no-newline-at-end").partition(b"\n\n")[0],
        "unclosed": own("unclosed").replace(b"\n---\n", b"\n"),
        "unclosed-rule": own("unclosed-rule").replace(b"\n---\n", b"\n").replace(b"Text", b"Text\n\n---\n\nMore"),
        "bare": f"# {label} bare\n\nDoes {label}-bare.\n".encode(),
        "empty-head": b"---\n---\n\nDoes it by its body.\n",
        "blank-head": b"---\n\n---\n\nDoes it by its body.\n",
        "comment-head": b"---\n# nothing\n---\n\nDoes it by its body.\n",
        "list-head": b"---\n- name\n- description\n---\n\nText.\n",
        "word-head": b"---\njust a word\n---\n\nText.\n",
        "empty-file": b"",
        "only-newline": b"\n",
        "latin": own("latin").replace(b"Does ", b"Does \xe9\xe8 "),
        "latin-body": own("latin-body") + b"\xe9\xe8\n",
        "utf16": own("utf16").decode().encode("utf-16"),
        "nul": own("nul").replace(b"Does ", b"Does \0 "),
        "nul-body": own("nul-body") + b"\0\n",
        "long-body": own("long-body") + _LONG.encode(),
        "late-rule": own("late-rule") + b"\n---\n\nAfter a rule.\n",
        "json-head": f'---\n{{"name": "{label}-json-head", "description": "Does it."}}\n---\n\nText.\n'.encode(),
    }  # fmt: skip
    return {f"{label}-{name}/SKILL.md": data for name, data in odd.items()}


def _heads(label: str) -> Files:
    """Give skills whose frontmatter is odd as YAML."""

    def lines(odd: str, *more: str) -> bytes:
        return _head(f"name: {label}-{odd}", *more)

    odd = {
        "colon": lines("colon", "description: Use when: the user asks: now"),
        "colon-end": lines("colon-end", "description: It ends with a colon:"),
        "hash": lines("hash", "description: Before # after"),
        "quoted": lines("quoted", 'description: "Does: quoted"'),
        "single": lines("single", "description: 'Does: it''s quoted'"),
        "unclosed-quote": lines("unclosed-quote", 'description: "Does it'),
        "open-bracket": lines("open-bracket", "description: [Does it"),
        "at-sign": lines("at-sign", "description: @mention does it"),
        "backtick": lines("backtick", "description: `code` does it"),
        "percent": lines("percent", "description: % does it"),
        "star": lines("star", "description: *does it"),
        "bang": lines("bang", "description: !does it"),
        "tab": lines("tab", "description: Does it", "metadata:", "\tkey: value"),
        "bad-other": lines("bad-other", "description: Does it", "tags: [a, b"),
        "colon-other": lines("colon-other", "description: Does it", "note: one: two"),
        "double-key": lines("double-key", "description: First", "description: Second"),
        "double-name": lines("double-name", f"name: {label}-double-name-2", "description: Does it"),
        "anchor": lines("anchor", "description: &a Does it", "copy: *a"),
        "alias-unknown": lines("alias-unknown", "description: Does it", "copy: *nothing"),
        "tag": lines("tag", "description: !!str Does it"),
        "tag-python": lines("tag-python", "description: Does it", "x: !!python/object:os.system 1"),
        "folded": lines("folded", "description: >", "  Does it", "  over lines"),
        "literal": lines("literal", "description: |", "  Does it", "  over lines"),
        "next-line": lines("next-line", "description:", "  Does it on the next line"),
        "continued": lines("continued", "description: Does it", "  and goes on"),
        "upper-keys": _head(f"Name: {label}-upper-keys", "Description: Does it"),
        "quoted-keys": _head(f'"name": {label}-quoted-keys', '"description": Does it'),
        "spaced-colon": _head(f"name : {label}-spaced-colon", "description : Does it"),
        "tight-colon": _head(f"name:{label}-tight-colon", "description:Does it"),
        "indented-keys": _head(f"  name: {label}-indented-keys", "  description: Does it"),
        "flow": _head(f"{{name: {label}-flow, description: Does it}}"),
        "inner-rule": lines("inner-rule", "description: Does --- it"),
        "comment-end": lines("comment-end # a comment", "description: Does it # a comment"),
        "deep-metadata": lines("deep-metadata", "description: Does it", "metadata:", "  a:", "    b: [1, {c: d}]"),
        "date": lines("date", "description: Does it", "date: 2026-11-16"),
        "emoji": lines("emoji", "description: Does it 🎉"),
        "merge-key": lines("merge-key", "description: Does it", "<<: {a: b}"),
        "two-documents": lines("two-documents", "description: Does it", "--- # second", "a: b"),
    }  # fmt: skip
    return {f"{label}-{name}/SKILL.md": data for name, data in odd.items()}


def _fields(label: str) -> Files:
    """Give skills whose name or description is odd."""

    def called(value: str) -> bytes:
        return _head(f"name: {value}", "description: Does it")

    def said(odd: str, value: str) -> bytes:
        return _head(f"name: {label}-{odd}", f"description: {value}")

    odd = {
        "no-name": _head("description: Does it"),
        "empty-name": called(""),
        "quoted-empty-name": called('""'),
        "blank-name": called('"  "'),
        "null-name": called("null"),
        "number-name": called("42"),
        "bool-name": called("true"),
        "list-name": called("[a, b]"),
        "map-name": called("{a: b}"),
        "date-name": called("2026-11-16"),
        "other-name": called(f"{label}-really-other"),
        "upper-name": called(f"{label}-Upper-NAME"),
        "spaced-name": called(f"{label} spaced name"),
        "under-name": called(f"{label}_under_name"),
        "dotted-name": called(f"{label}.dotted.name"),
        "slash-name": called(f"{label}/slash-name"),
        "up-name": called(f"../{label}-up-name"),
        "colon-name": called(f'"{label}:colon-name"'),
        "bang-name": called(f"{label}-bang!"),
        "unicode-name": called(f"{label}-ñame"),
        "chinese-name": called(f"{label}-技能"),
        "hyphen-first": called(f"-{label}-first"),
        "hyphen-last": called(f"{label}-last-"),
        "hyphen-twice": called(f"{label}--twice"),
        "name-64": called(f"{label}-".ljust(64, "a")),
        "name-65": called(f"{label}-".ljust(65, "b")),
        "name-120": called(f"{label}-".ljust(120, "c")),
        "name-lines": _head("name: |", f"  {label}-name-lines", "description: Does it"),
        "name-xml": called(f"{label}-<b>xml</b>"),
        "name-claude": called(f"{label}-claude-helper"),
        "no-description": _head(f"name: {label}-no-description"),
        "no-description-no-body": f"---\nname: {label}-no-description-no-body\n---\n".encode(),
        "empty-description": said("empty-description", ""),
        "blank-description": said("blank-description", '"   "'),
        "null-description": said("null-description", "null"),
        "tilde-description": said("tilde-description", "~"),
        "number-description": said("number-description", "42"),
        "bool-description": said("bool-description", "false"),
        "list-description": said("list-description", "[Does, it]"),
        "map-description": said("map-description", "{does: it}"),
        "description-1024": said("description-1024", "Does it. ".ljust(1024, "d")),
        "description-1025": said("description-1025", "Does it. ".ljust(1025, "e")),
        "description-1600": said("description-1600", "Does it. ".ljust(1600, "f")),
        "description-5000": said("description-5000", "Does it. ".ljust(5000, "g")),
        "description-xml": said("description-xml", "Does <b>it</b> &amp; more"),
        "description-unicode": said("description-unicode", "Macht es, é 技能"),
        "one-word": said("one-word", "X"),
        "nothing": _head("license: MIT"),
    }
    return {f"{label}-{name}/SKILL.md": data for name, data in odd.items()}


def _gates(label: str) -> Files:
    """Give skills with fields by which some agent may decide whether to offer them."""

    def with_(odd: str, *more: str) -> bytes:
        return _skill(f"{label}-{odd}", *more)

    odd = {
        "no-model": with_("no-model", "disable-model-invocation: true"),
        "no-model-word": with_("no-model-word", 'disable-model-invocation: "true"'),
        "no-model-yes": with_("no-model-yes", "disable-model-invocation: yes"),
        "no-model-one": with_("no-model-one", "disable-model-invocation: 1"),
        "no-model-false": with_("no-model-false", "disable-model-invocation: false"),
        "no-model-under": with_("no-model-under", "disable_model_invocation: true"),
        "no-user": with_("no-user", "user-invocable: false"),
        "no-one": with_("no-one", "user-invocable: false", "disable-model-invocation: true"),
        "paths": with_("paths", "paths: ['*.rs']"),
        "paths-word": with_("paths-word", "paths: '**/*.py'"),
        "paths-empty": with_("paths-empty", "paths: []"),
        "paths-all": with_("paths-all", "paths: ['**']"),
        "globs": with_("globs", "globs: ['*.rs']"),
        "platforms-linux": with_("platforms-linux", "platforms: [linux]"),
        "platforms-mac": with_("platforms-mac", "platforms: [macos]"),
        "platforms-windows": with_("platforms-windows", "platforms: windows"),
        "platforms-unknown": with_("platforms-unknown", "platforms: [amiga]"),
        "environments": with_("environments", "environments: [docker]"),
        "environments-kanban": with_("environments-kanban", "environments: [kanban]"),
        "environments-odd": with_("environments-odd", "environments: [other]"),
        "requires-tools": with_("requires-tools", "metadata:", "  hermes:", "    requires_tools: [no_such_tool]"),
        "requires-toolsets": with_("requires-toolsets", "metadata:", "  hermes:", "    requires_toolsets: [nothing]"),
        "fallback": with_("fallback", "metadata:", "  hermes:", "    fallback_for_toolsets: [web]"),
        "requires-env": with_("requires-env", "required_environment_variables: [NO_SUCH_VARIABLE]"),
        "requires-bins": with_("requires-bins", "metadata:", "  openclaw:", "    requires:", "      bins: [no-such-program]"),
        "enabled-false": with_("enabled-false", "enabled: false"),
        "disabled-true": with_("disabled-true", "disabled: true"),
        "hidden-true": with_("hidden-true", "hidden: true"),
        "internal": with_("internal", "metadata:", "  internal: true"),
        "fork": with_("fork", "context: fork"),
        "agent": with_("agent", "agent: Explore"),
        "tools-number": with_("tools-number", "allowed-tools: 42"),
        "tools-list": with_("tools-list", "allowed-tools: [Read, Bash]"),
        "license-number": with_("license-number", "license: 42"),
        "compatibility-long": with_("compatibility-long", "compatibility: " + "c" * 600),
        "compatibility-list": with_("compatibility-list", "compatibility: [a]"),
        "metadata-word": with_("metadata-word", "metadata: words"),
        "metadata-list": with_("metadata-list", "metadata: [a]"),
        "version-number": with_("version-number", "version: 1.0"),
        "unknown-field": with_("unknown-field", "colour: blue"),
        "when-to-use": with_("when-to-use", "when_to_use: at night"),
        "hooks-bad": with_("hooks-bad", "hooks: wrong"),
        "mode": with_("mode", "mode: true"),
        "status": with_("status", "status: draft"),
    }  # fmt: skip
    files: Files = {f"{label}-{name}/SKILL.md": data for name, data in odd.items()}
    sidecars = {
        "implicit-no": b"policy:\n  allow_implicit_invocation: false\n",
        "implicit-yes": b"policy:\n  allow_implicit_invocation: true\n",
        "products-other": b"policy:\n  products: [chatgpt]\n",
        "products-codex": b"policy:\n  products: [codex]\n",
        "sidecar-bad": b"policy: [\n",
        "sidecar-word": b"words\n",
        "interface": b"interface:\n  display_name: Shown\n  short_description: Short\n",
    }
    for name, data in sidecars.items():
        files[f"{label}-{name}/SKILL.md"] = _skill(f"{label}-{name}")
        files[f"{label}-{name}/agents/openai.yaml"] = data
    return files


def _duplicates(label: str) -> Files:
    """Give skills of one name, in one root and in several."""
    return {
        f"{label}-twice-a/SKILL.md": _skill(f"{label}-twice", body="The first."),
        f"{label}-twice-b/SKILL.md": _skill(f"{label}-twice", body="The second."),
        f"{label}-case-a/SKILL.md": _skill(f"{label}-case"),
        f"{label}-case-b/SKILL.md": _skill(f"{label}-Case"),
        f"deep/{label}-thrice/SKILL.md": _skill(f"{label}-thrice", body="The deep one."),
        f"{label}-thrice/SKILL.md": _skill(f"{label}-thrice", body="The one above."),
        "same/SKILL.md": _skill("same", description=f"Does the same for {label}."),
        "same-folder/SKILL.md": _skill(f"{label}-by-name", description=f"Does it for {label}."),
        f"{label}-same-name/SKILL.md": _skill("same-name"),
        "copied/SKILL.md": _skill("copied"),
    }


def whole_set(label: str) -> Files:
    """Give every oddity."""
    parts = (_places, _links, _names_of_files, _texts, _heads, _fields, _gates, _duplicates)
    return {path: data for part in parts for path, data in part(label).items()}


def small_set(label: str) -> Files:
    """Give what shows whether and how a folder is read at all."""
    wanted = {f"{label}-plain", f"{label}-linked", f".{label}-dot", f"{label}-flat.md", f"{label}-bare", "same", "copied"}  # fmt: skip
    every = whole_set(label)
    return {
        path: data
        for path, data in every.items()
        if path.partition("/")[0] in wanted
        or path.startswith((f"two/{label}-in-two/", f"/store/{label}/{label}-linked/"))
    }


def stray_set(label: str) -> Files:
    """Give a root that holds a SKILL.md itself, with skills and links beside it."""
    return {**small_set(label), "SKILL.md": _skill(f"{label}-stray")}


_USER = {
    ".agents/skills": "ha", ".claude/skills": "hc", ".hermes/skills": "hh",
    ".codex/skills": "hx", ".gemini/skills": "hg", ".config/opencode/skills": "ho",
    ".config/opencode/skill": "hos", ".opencode/skills": "hod", ".config/agents/skills": "hca",
    ".deepagents/agent/skills": "hd", ".deepagents/skills": "hds", ".qwen/skills": "hq",
    ".cursor/skills": "hcu", ".copilot/skills": "hco", ".config/goose/skills": "hgo",
    ".openclaw/skills": "hoc", ".agent/skills": "hag", "skills": "hsk",
    ".kilo/skills": "hkl", ".kilocode/skills": "hkc", ".config/kilo/skills": "hck",
    ".config/amp/skills": "hcam", ".pi/agent/skills": "hpi", ".kimi/skills": "hki",
    ".factory/skills": "hfa", ".continue/skills": "hcn", ".github/skills": "hgh",
}  # fmt: skip
_PROJECT = {
    ".agents/skills": "pa", ".claude/skills": "pc", ".codex/skills": "px", ".gemini/skills": "pg",
    ".opencode/skills": "po", ".opencode/skill": "pos", ".hermes/skills": "ph",
    ".deepagents/skills": "pd", ".github/skills": "pgh", ".cursor/skills": "pcu",
    ".goose/skills": "pgo", ".qwen/skills": "pq", ".agent/skills": "pag", "skills": "psk",
}  # fmt: skip
_READ_BY_MANY = (".agents", ".claude", ".codex", ".gemini", ".opencode", ".hermes", ".deepagents")
_READ_BY_ONE = (".github", ".qwen", ".kilo", ".kilocode", ".pi", ".kimi", ".factory", ".continue")
_WHOLE = {"ha", "hc", "hh", "pa", "pc"}


def _roots() -> dict[str, Files]:
    """Give every root of the machine, by its path, with what lies in it."""
    found: dict[str, Files] = {}
    for base, table in ((HOME, _USER), (REPOSITORY, _PROJECT)):
        for path, label in table.items():
            found[f"{base}/{path}"] = whole_set(label) if label in _WHOLE else small_set(label)
    some = {"between": f"{REPOSITORY}/pkg", "below": f"{INSIDE}/lower", "beside": f"{REPOSITORY}/other",
            "above": ".", "out": OUTSIDE, "over": "loose"}  # fmt: skip
    for label, base in some.items():
        for folder in _READ_BY_MANY:
            found[f"{base}/{folder}/skills"] = small_set(f"{label}-{folder[1:3]}")
        for folder in _READ_BY_ONE:
            found[f"{base}/{folder}/skills"] = small_set(f"{label}-{folder[1:]}")
    for folder in _READ_BY_MANY:
        found[f"{INSIDE}/{folder}/skills"] = stray_set(f"inside-{folder[1:3]}")
    for folder in _READ_BY_ONE:
        found[f"{INSIDE}/{folder}/skills"] = stray_set(f"inside-{folder[1:]}")
    for folder in (".kilo", ".kilocode", ".pi", ".kimi", ".factory", ".continue"):
        found[f"{REPOSITORY}/{folder}/skills"] = small_set(f"p-{folder[1:]}")
    return found


def make(base: Path) -> None:
    """Make the machine below a folder."""
    for root, files in _roots().items():
        for path, data in files.items():
            write(base, path.lstrip("/") if path.startswith("/") else f"{root}/{path}", data)
    write(base, f"{REPOSITORY}/.git/HEAD", b"ref: refs/heads/main\n")
    write(
        base,
        f"{REPOSITORY}/.git/config",
        b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    )
    for folder in ("objects", "refs/heads"):
        (base / REPOSITORY / ".git" / folder).mkdir(parents=True)
    write(base, f"{REPOSITORY}/main.py", b"print('hello')\n")


def write(base: Path, path: str, data: Content) -> None:
    """Put one file or link below the machine's folder; a link's target that begins with a slash is below it too."""
    target = base / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(data, Link):
        aim = f"{base}{data.target}" if data.target.startswith("/") else data.target
        os.symlink(aim, target)
    else:
        target.write_bytes(data)


def take_out(base: Path, patterns: Sequence[str]) -> None:
    """Take folders off the machine whose names match a pattern."""
    for pattern in patterns:
        for folder in sorted(base.rglob(pattern)):
            if not folder.is_symlink():
                shutil.rmtree(folder)


# --- a second machine, on which each agent is configured

SECOND_VIEWS = {"configured": REPOSITORY, "configured-subfolder": f"{REPOSITORY}/sub"}


def make_configured(base: Path) -> None:
    """Make a machine whose agents have configurations and plugins of their own."""
    named = ("plain", "off-one", "name-one", "user-one", "denied", "by-name", "by-path")
    for name in named:
        for folder, before in (
            (".agents", ""),
            (".claude", ""),
            (".gemini", "g-"),
            (".hermes", ""),
        ):
            _put(base, f"{HOME}/{folder}/skills", before + name)
    for name in ("p-plain", "p-denied"):
        for folder in (".agents", ".claude"):
            _put(base, f"{REPOSITORY}/{folder}/skills", name)
    for folder in (".agents", ".claude"):
        _put(base, f"{REPOSITORY}/sub/{folder}/skills", "sub-plain")
    for path, name in (
        (f"{HOME}/extra", "extra-one"),
        ("far", "far-one"),
        (f"{REPOSITORY}/near", "near-one"),
    ):
        _put(base, path, name)
    write(base, f"{REPOSITORY}/.git/HEAD", b"ref: refs/heads/main\n")
    for folder in ("objects", "refs/heads"):
        (base / REPOSITORY / ".git" / folder).mkdir(parents=True)
    (base / REPOSITORY / "sub" / ".hg").mkdir()
    _configure_codex(base)
    _configure_claude(base)
    _configure_others(base)


def _put(base: Path, root: str, name: str) -> None:
    write(base, f"{root}/{name}/SKILL.md", _skill(name))


def _json(value: object) -> bytes:
    return json.dumps(value, indent=1).encode()


def _configure_codex(base: Path) -> None:
    write(
        base,
        f"{HOME}/.codex/config.toml",
        f"""project_root_markers = [".hg"]

[[skills.config]]
path = "{base}/home/.agents/skills/by-path/SKILL.md"
enabled = false

[[skills.config]]
name = "by-name"
enabled = false

[skills.bundled]
enabled = false

[plugins."plug@market"]
enabled = true

[plugins."off@market"]
enabled = false
""".encode(),
    )
    for name in ("plug", "off", "unlisted"):
        place = f"{HOME}/.codex/plugins/cache/market/{name}/local"
        manifest = {"name": name, "version": "1.0.0", "skills": "./skills"}
        write(base, f"{place}/.codex-plugin/plugin.json", _json(manifest))
        _put(base, f"{place}/skills", f"{name}-skill")


def _configure_claude(base: Path) -> None:
    settings = {
        "enabledPlugins": {"plug@market": True, "off@market": False},
        "permissions": {"deny": ["Skill(denied)"]},
        "skillOverrides": {"off-one": "off", "name-one": "name-only", "user-one": "user-invocable-only"},
    }  # fmt: skip
    write(base, f"{HOME}/.claude/settings.json", _json(settings))
    write(
        base, f"{REPOSITORY}/.claude/settings.json", _json({"skillOverrides": {"p-denied": "off"}})
    )
    installed = {}
    for name in ("plug", "off", "unlisted"):
        place = f"{HOME}/.claude/plugins/cache/market/{name}/1.0.0"
        write(
            base, f"{place}/.claude-plugin/plugin.json", _json({"name": name, "version": "1.0.0"})
        )
        _put(base, f"{place}/skills", f"{name}-skill")
        _put(base, f"{place}/skills/two", f"{name}-deep")
        if name != "unlisted":
            installed[f"{name}@market"] = [
                {"scope": "user", "installPath": f"{base}/{place}", "version": "1.0.0"}
            ]
    write(
        base,
        f"{HOME}/.claude/plugins/installed_plugins.json",
        _json({"version": 2, "plugins": installed}),
    )
    market = {
        "source": {"source": "directory", "path": f"{base}/market"},
        "installLocation": f"{base}/market",
    }
    write(base, f"{HOME}/.claude/plugins/known_marketplaces.json", _json({"market": market}))
    offers = [{"name": name, "source": f"./{name}"} for name in ("plug", "off", "unlisted")]
    listing = {"name": "market", "owner": {"name": "nobody"}, "plugins": offers}
    write(base, "market/.claude-plugin/marketplace.json", _json(listing))


def _configure_others(base: Path) -> None:
    write(
        base,
        f"{HOME}/.gemini/settings.json",
        b'{\n // some\n "skills": {"disabled": ["denied", "by-name"]}\n}\n',
    )
    write(
        base, f"{REPOSITORY}/.gemini/settings.json", _json({"skills": {"disabled": ["p-denied"]}})
    )
    write(
        base,
        f"{HOME}/.gemini/extensions/ext/gemini-extension.json",
        _json({"name": "ext", "version": "1.0.0"}),
    )
    _put(base, f"{HOME}/.gemini/extensions/ext/skills", "ext-skill")
    write(
        base,
        f"{HOME}/.config/opencode/opencode.json",
        _json({"skills": {"paths": ["~/extra", f"{base}/far"]}}),
    )
    write(
        base,
        f"{HOME}/.hermes/config.yaml",
        f"""skills:
  disabled: [denied]
  external_dirs: [~/extra, {base}/far, beside]
  platform_disabled:
    telegram: [by-name]
""".encode(),
    )
    _put(base, f"{HOME}/.hermes/beside", "beside-one")
    _configure_more(base)


def _configure_more(base: Path) -> None:
    more = [f"{base}/far", "~/extra", "near"]
    off = {"disabled": ["denied"]}
    kilo = {"skills": {"paths": ["~/extra", f"{base}/far"]}}
    for path, value in (
        (".copilot/settings.json", {"disabledSkills": ["denied", "by-name"]}),
        (".qwen/settings.json", {"skills": off}),
        (".config/kilo/kilo.json", kilo),
        (".config/amp/settings.json", {"amp.skills.path": f"{base}/far:~/extra"}),
        (".pi/agent/settings.json", {"skills": [*more, "!denied"]}),
    ):
        write(base, f"{HOME}/{path}", _json(value))
    extension = f"{HOME}/.qwen/extensions/ext"
    write(base, f"{extension}/qwen-extension.json", _json({"name": "ext", "version": "1.0.0"}))
    _put(base, f"{extension}/skills", "ext-skill")
    folders = json.dumps(more)
    write(base, f"{HOME}/.kimi/config.toml", f"extra_skill_dirs = {folders}\n".encode())


# --- what was said of it


class Listed(NamedTuple):
    """One skill that somebody lists: its name, and its path below the machine's folder where that is told."""

    name: str
    path: str = ""


def agreement(
    theirs: Sequence[Listed], ours: Sequence[Listed]
) -> tuple[float, list[str], list[str]]:
    """Give the share of skills that both list of those that either does, and what only one of them lists.

    Skills are the same when their names are; and their places, where both tell them. One without a name goes by its folder.
    """
    placed = all(one.path for one in theirs)
    theirs = [one._replace(name=one.name.strip() or Path(one.path).name) for one in theirs]
    said, known = (
        Counter((one.name.strip(), one.path if placed else "") for one in some)
        for some in (theirs, ours)
    )
    either = sum((said | known).values())
    only = [
        sorted(f"{name}  {path}" for name, path in (a - b).elements())
        for a, b in ((said, known), (known, said))
    ]
    return (sum((said & known).values()) / either if either else 1.0), only[0], only[1]


def real_place(base: Path, path: str) -> str:
    """Give where a skill's folder really lies, below the machine's folder."""
    return os.path.realpath(path.removesuffix("/SKILL.md")).removeprefix(
        f"{os.path.realpath(base)}/"
    )


def trust_all(library: Library, base: Path, cwd: Path) -> None:
    """Trust the working folder and every folder above it on the machine: agents ask nobody."""
    for folder in (cwd, *cwd.parents):
        if folder.is_relative_to(base):
            library.trust_project(str(folder))


def listed_by(library: Library, base: Path) -> list[Listed]:
    """Give what a library of one agent says that the agent lists."""
    agent = library.context.agent
    placed = agent is None or agent.duplicates not in {"undefined", "unordered"}
    return [
        Listed(card.name, real_place(base, card.path) if placed else "")
        for card in library.skills(all=True)
        if (card.state in {"visible", "ask"} or POLICY in " ".join(card.reasons))
        and card.scope != "system"
    ]
