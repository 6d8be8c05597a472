"""What a package's manifest brings in: scripts that run on installation, and dependencies from elsewhere."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from metier.scan.rule import Hit
from metier.scan.rules.supply import INDEXES
from metier.scan.shell.hosts import under
from metier.scan.shell.packages import lookalike

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 1 << 20
_HOOKS = (
    "preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare", "prepublish", "preuninstall",
    "postuninstall",
)  # fmt: skip
_TABLES = (
    "dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "bundledDependencies", "resolutions",
    "overrides",
)  # fmt: skip
_USUAL = re.compile(
    r"^(?:husky|npm run|pnpm|yarn|bun run|tsc|lefthook|simple-git-hooks|is-ci|patch-package|prisma generate|node-gyp"
    r"|prebuild-install|node-pre-gyp|rollup|vite|tsup|ngcc|electron-builder|playwright install|lint-staged|wxt|nuxt"
    r"|svelte-kit|turbo|ultra|effect)\b"
)
_ELSEWHERE = re.compile(
    r"^(?:git\+|git:|github:|gitlab:|bitbucket:|gist:|https?://|ssh://|file:\.\./\.\.)"
    r"|^[\w.-]{1,60}/[\w.-]{1,80}(?:#\S{1,80})?$|\.git(?:#|$)"
)
_WORSE = frozenset((
    "SC201", "SC203", "SC204", "SC206", "SC208", "SC210", "SC211", "SC212", "SC213", "SC215", "SC216", "SC219", "SC220",
    "SC221", "SC230", "SC231", "SC236", "SC237", "SC238", "SC217", "SC247", "SC243", "SC516",
))  # fmt: skip
_PINNED = re.compile(r"@\s?(git\+|https?://)|^(git\+|https?://)|^-e\s+git\+")
_REQUIREMENT = re.compile(r"^[ \t]*([A-Za-z0-9][\w.-]{0,80})[ \t]*(?:\[[^\]\n]{0,80}\])?[ \t]*(?=[<>=!~;@#\n]|$)", re.MULTILINE)
_INDEX_LINE = re.compile(
    r"^[ \t]*(--index-url|--extra-index-url|-i|--find-links|-f|--trusted-host)[ \t=]+(\S{1,500})",
    re.MULTILINE,
)
_LINK_LINE = re.compile(r"^[ \t]*(?:-e[ \t]+)?(?:[\w.\[\]-]{1,80}[ \t]*@[ \t]*)?((?:git\+|https?://)\S{1,500})", re.MULTILINE)
_QUOTED_LINK = re.compile(
    r"[\"'](?:[\w.\[\]-]{1,80}\s?@\s?)?(git\+[^\"'\s]{1,300}|https?://[^\"'\s]{1,300}\.(?:whl|tar\.gz|tgz|zip))[\"']"
)
_CMDCLASS = re.compile(r"\bcmdclass\s{0,3}[=:]|[\"']cmdclass[\"']\s{0,3}:")
_ACTS = re.compile(
    r"\b(?:os\.system|subprocess\.|urlopen|urlretrieve|requests\.(?:get|post)|socket\.|exec\(|eval\(|b64decode"
    r"|marshal\.loads|ctypes\.)"
)


def manifest(path: str, text: str) -> Iterator[Hit]:
    """Give the hits of one manifest; its file name says how it is read."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1].lower()
    text = text[:_LONGEST]
    if name.endswith("package.json"):
        yield from _package_json(text)
    elif name.endswith(".txt") and ("require" in name or "constraint" in name):
        yield from _requirements(text)
    elif name.endswith("pyproject.toml"):
        yield from _pyproject(text)
    elif name.endswith("setup.py"):
        yield from _setup(text)
    elif name.endswith((".json", ".yaml", ".yml", ".toml", ".cfg", ".md")) and "lock" not in name:
        yield from (Hit("SC514", match.start(1), match.end(1)) for match in _QUOTED_LINK.finditer(text))


def _package_json(text: str) -> Iterator[Hit]:
    from metier.scan.analyzers import shell, supply

    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    if not isinstance(data, dict):
        return
    scripts = data.get("scripts")
    scripts = scripts if isinstance(scripts, dict) else {}
    for hook in _HOOKS:
        command = scripts.get(hook)
        if not isinstance(command, str) or not command:
            continue
        start, end = _spot(text, hook, command)
        bad = [hit.rule for hit in (*shell.find(command), *supply.find(command)) if hit.rule in _WORSE or hit.rule == "SC290"]
        if bad:
            yield Hit("SC512", start, end, command[:200])
        elif not _USUAL.match(command):
            yield Hit("SC513", start, end, command[:200])
    for table in _TABLES:
        wanted = data.get(table)
        if isinstance(wanted, dict):
            yield from _dependencies(text, wanted)


def _dependencies(text: str, wanted: dict[Any, Any]) -> Iterator[Hit]:
    for name, version in list(wanted.items())[:500]:
        if isinstance(version, str) and _ELSEWHERE.search(version):
            yield Hit("SC514", *_spot(text, str(name), version), version[:120])
        meant = lookalike(str(name), "npm")
        if meant:
            yield Hit("SC501", *_spot(text, str(name), ""), f"{name} is nearly {meant}"[:120])


def _spot(text: str, key: str, value: str) -> tuple[int, int]:
    """Return where a key of a JSON text is written, up to the end of its value where that is found near it."""
    start = text.find(f'"{key}"')
    if start < 0:
        return 0, min(len(text), 1)
    end = start + len(key) + 2
    found = text.find(json.dumps(value, ensure_ascii=False), end, end + len(value) * 2 + 40) if value else -1
    return start, found + len(value) + 2 if found >= 0 else end


def _requirements(text: str) -> Iterator[Hit]:
    for match in _INDEX_LINE.finditer(text):
        host = match[2].partition("://")[2].rpartition("@")[2].lower() or match[2].lower()
        if not under(host, INDEXES):
            yield Hit("SC519" if match[1] == "--trusted-host" else "SC504", match.start(1), match.end(2))
    for match in _LINK_LINE.finditer(text):
        yield Hit("SC514", match.start(1), match.end(1))
    for match in _REQUIREMENT.finditer(text):
        meant = lookalike(match[1], "pypi")
        if meant:
            yield Hit("SC501", match.start(1), match.end(1), f"{match[1]} is nearly {meant}")


def _pyproject(text: str) -> Iterator[Hit]:
    for match in _QUOTED_LINK.finditer(text):
        yield Hit("SC514", match.start(1), match.end(1))
    try:
        data: Any = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    project = data.get("project")
    listed = project.get("dependencies") if isinstance(project, dict) else None
    for wanted in listed[:500] if isinstance(listed, list) else ():
        meant = lookalike(wanted, "pypi") if isinstance(wanted, str) else ""
        if meant:
            at = max(0, text.find(wanted))
            yield Hit("SC501", at, at + len(wanted), f"{wanted[:60]} is nearly {meant}")
    build = data.get("build-system")
    if isinstance(build, dict) and "backend-path" in build:
        at = max(0, text.find("backend-path"))
        yield Hit("SC515", at, at + len("backend-path"))


def _setup(text: str) -> Iterator[Hit]:
    match = _CMDCLASS.search(text)
    if not match:
        return
    acts = _ACTS.search(text)
    yield Hit(
        "SC512" if acts and re.search(r"class \w{1,80}\((?:\w{1,40}\.)?(?:install|develop|egg_info|build_py)\b", text) else "SC515",
        match.start(),
        match.end(),
    )
