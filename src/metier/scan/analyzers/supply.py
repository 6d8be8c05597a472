"""Where the code of others comes from: install commands in shell texts, and the manifests of packages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.scan.rule import Hit
from metier.scan.rules.supply import INDEXES
from metier.scan.shell import calls, hosts
from metier.scan.shell.packages import Install, install, lookalike

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.scan.shell.calls import Call, Script

MOST_OF_ONE = 20

_GIT = re.compile(
    r"^(?:[\w.-]{1,80}\s?@\s?)?git\+|^git(?:hub|lab)?:|\.git(?:[#@]|$)|^ssh://|^https?://(?:github"
    r"|gitlab)\.com/[^/\s]{1,80}/[^/\s]{1,80}/?$"
)
_ADDRESS = re.compile(r"^(?:[\w.\[\]-]{1,80}\s?@\s?)?(?:https?|ftp)://")
_REPOSITORY = re.compile(r"^[\w.-]{1,60}/[\w.-]{1,80}(?:#[\w./-]{1,80})?$")
_INDEX = (
    "--index-url", "--extra-index-url", "-i", "--registry", "--index", "--default-index", "--find-links", "-f", "--source",
    "-s",
)  # fmt: skip
_ARCHIVE = re.compile(
    r"(?i)\.(?:zip|tar|tgz|tar\.gz|tar\.xz|tar\.bz2|7z|rar|exe|msi|dmg|pkg|deb|rpm|appimage|bin|run|whl|jar|so|dylib"
    r"|dll)(?:[?#]|$)|/releases/(?:latest/)?download/"
)
_TAPS = (
    "homebrew/", "hashicorp/", "mongodb/", "aws/", "azure/", "dart-lang/", "heroku/", "stripe/", "supabase/", "vercel/",
    "microsoft/", "goreleaser/", "charmbracelet/", "oven-sh/", "steipete/", "cloudflare/", "planetscale/", "turso/",
    "fluxcd/",
)  # fmt: skip
_IMAGES = re.compile(
    r"^(?:docker\.io/)?(?:library/)?[a-z0-9_-]{2,40}(?::[\w.-]{1,80})?$|^(?:mcr\.microsoft\.com|gcr\.io/google"
    r"|quay\.io/(?:prometheus|coreos)|public\.ecr\.aws/(?:docker|aws))"
)
_MOUNTS = re.compile(r"^(?:/:|~(?:/?:|/\.)|\$HOME(?:/?:|/\.)|/var/run/docker\.sock|/etc|/root|/home/?:)")
_UNCHECKED = frozenset((
    "--trusted-host", "--allow-unauthenticated", "--nogpgcheck", "--no-gpg-checks", "--force-yes", "--allow-untrusted",
    "--no-verify-ssl", "--ignore-scripts=false", "--allow-insecure-repositories", "--no-check-gpg",
))  # fmt: skip
_AGENTS = frozenset((
    "claude", "codex", "gemini", "cursor", "code", "openclaw", "clawdbot", "clawhub", "skills", "hermes", "moltbot",
))  # fmt: skip


def find(code: str) -> list[Hit]:
    """Return what a shell text installs from elsewhere, in the order of its places."""
    script = calls.script(code)
    return trimmed(hit for call in script.calls for hit in _judged(script, call))


def find_manifest(path: str, text: str) -> list[Hit]:
    """Return what a package's manifest brings in. The path says which kind it is."""
    from metier.scan.analyzers.manifests import manifest

    return trimmed(manifest(path, text))


def trimmed(hits: Iterator[Hit]) -> list[Hit]:
    """Return the hits in order, each place once, and not too many."""
    counts: dict[str, int] = {}
    kept: dict[tuple[str, int], Hit] = {}
    for hit in sorted(hits, key=lambda one: (one.start, one.rule)):
        if (hit.rule, hit.start) not in kept and counts.get(hit.rule, 0) < MOST_OF_ONE:
            counts[hit.rule] = counts.get(hit.rule, 0) + 1
            kept[hit.rule, hit.start] = hit
    return list(kept.values())


def _judged(script: Script, call: Call) -> Iterator[Hit]:
    wanted = install(call)
    if wanted:
        yield from _packages(call, wanted)
        yield from _indexes(call)
    if any(arg in _UNCHECKED for arg in call.args) and call.name in (
        "pip",
        "apt",
        "apt-get",
        "yum",
        "dnf",
        "apk",
        "npm",
        "zypper",
        "uv",
        "python",
    ):
        yield _hit("SC519", call)
    if call.name in (
        "brew",
        "apt-key",
        "add-apt-repository",
        "apt-add-repository",
        "rpm",
        "dnf",
        "yum",
        "helm",
        "choco",
        "flatpak",
    ):
        yield from _sources(call)
    elif call.name in ("docker", "podman") and call.has("run"):
        yield from _image(call)
    elif call.name in ("deno", "bun", "uv", "node", "tsx", "groovy", "mshta", "rundll32", "regsvr32") and _straight(call):
        yield _hit("SC516", call)
    elif call.name in calls.FETCHERS:
        yield from _download(script, call)
    elif call.name in _AGENTS and _adds(call):
        yield _hit("SC518", call)
    if any(
        "/etc/apt/sources.list" in one.target.text or "/etc/yum.repos.d" in one.target.text or "/etc/apt/trusted" in one.target.text
        for one in call.command.redirects
    ) or (call.name == "tee" and any(arg.startswith(("/etc/apt/", "/etc/yum.repos.d")) for arg in call.args)):
        yield _hit("SC511", call)


def _straight(call: Call) -> bool:
    """Say whether the program itself is an address, and not one of its arguments."""
    plain = call.plain()
    return bool(_ADDRESS.match(" ".join(plain[1:2] if plain[:1] in (["run"], ["x"], ["serve"]) else plain[:1])))


def _hit(rule: str, call: Call, evidence: str = "") -> Hit:
    return Hit(rule, call.command.start, call.command.end, evidence)


def _packages(call: Call, wanted: Install) -> Iterator[Hit]:
    for word in wanted.packages[:50]:
        text = word.text
        if _GIT.search(text):
            yield Hit("SC503", word.start, word.end)
        elif _ADDRESS.match(text):
            yield Hit("SC502", word.start, word.end, hosts.shady(text[text.find("http") :]))
        elif wanted.kind == "npm" and text[:1] != "@" and _REPOSITORY.match(text):
            yield Hit("SC503", word.start, word.end)
        else:
            meant = lookalike(text, wanted.kind)
            if meant:
                yield Hit("SC501", word.start, word.end, f"{text[:60]} is nearly {meant}")
    if wanted.once and wanted.packages:
        name = wanted.packages[0].text
        newest = name.endswith("@latest") or call.has("-y", "--yes")
        yield _hit("SC506" if newest else "SC505", call)
        if name.split("@")[0] in ("skills", "add-skill", "clawhub", "add-mcp", "install-mcp") and call.has("add", "install"):
            yield _hit("SC518", call)
    if wanted.kind == "go" and any(word.text.endswith(("@latest", "@master", "@main")) for word in wanted.packages):
        yield _hit("SC507", call)


def _indexes(call: Call) -> Iterator[Hit]:
    for word in call.option(*_INDEX):
        url = word.text
        if "://" in url and not calls.host(url).startswith(("localhost", "127.")):
            rest = url.partition("://")[2].rpartition("@")[2].lower()
            if not hosts.under(rest, INDEXES) and not rest.partition("/")[0].endswith(
                (".pkg.dev", ".amazonaws.com", ".pythonhosted.org")
            ):
                yield Hit("SC504", word.start, word.end, hosts.shady(url))


def _sources(call: Call) -> Iterator[Hit]:
    plain = call.plain()
    if call.name == "brew":
        if plain[:1] == ["tap"] and len(plain) > 1 and not plain[1].lower().startswith(_TAPS):
            yield _hit("SC509", call)
    elif call.name in ("apt-key", "add-apt-repository", "apt-add-repository") or call.has("--import", "--add-repo", "addrepo"):
        yield _hit("SC511", call)
    elif (call.name in ("helm", "flatpak") and plain[:2] in (["repo", "add"], ["remote-add"])) or (
        call.name == "choco" and plain[:2] == ["source", "add"]
    ):
        yield _hit("SC509", call)


def _image(call: Call) -> Iterator[Hit]:
    mounts = [word.text for word in call.option("-v", "--volume")]
    if not any(_MOUNTS.match(mount) for mount in mounts):
        return
    images = [
        arg
        for arg in call.plain()
        if "/" in arg and arg not in mounts and re.match(r"^[a-z0-9][\w.-]*(?::\d+)?/[\w./-]+(?::[\w.-]+)?$", arg)
    ]
    if images and not _IMAGES.match(images[0]) and "@sha256:" not in images[0]:
        yield _hit("SC510", call, images[0][:80])


def _download(script: Script, call: Call) -> Iterator[Hit]:
    for url, word in calls.urls(call):
        if _ARCHIVE.search(url) and not hosts.here(url):
            yield Hit("SC517", word.start, word.end, url[:120])
    for one in script.after(call):
        if one.name in ("npm", "pip", "uv", "apt-key", "gpg") and (one.name != "gpg" or one.has("--dearmor", "--import")):
            yield _hit("SC511" if one.name in ("apt-key", "gpg") else "SC502", call)


def _adds(call: Call) -> bool:
    plain = [arg for arg in call.args[:4] if arg[:1] != "-"]
    return (
        plain[:2]
        in (
            ["mcp", "add"],
            ["mcp", "add-json"],
            ["plugin", "install"],
            ["skills", "add"],
            ["skills", "install"],
            ["extensions", "install"],
            ["plugins", "install"],
            ["plugin", "add"],
        )
        or (call.name in ("clawhub", "skills") and plain[:1] in (["install"], ["add"]))
        or call.has("--install-extension")
    )
