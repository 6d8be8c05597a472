"""Finds the packages that a skill brings in, through install commands in shell texts and through
package manifests.

It says whether a package's name is nearly another's, what runs on installation, and which
dependencies come from elsewhere.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.scan.languages.shell import commands, remote
from metier.scan.languages.shell.remote import under
from metier.scan.model import RuleHit, limit_hits, word_set
from metier.scan.rules.supply import INDEXES, NPM, PYPI, REAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.scan.languages.shell.commands import ShellCall, ShellScript
    from metier.scan.languages.shell.read import ShellWord


_VALUED = word_set(
    "-r --requirement -c --constraint -i --index-url --extra-index-url -f --find-links -t "
    "--target --python --registry --prefix --trusted-host -p --group -G --extra --source "
    "-v --version -n --name -w --filter --root --proxy --index --channel"
)
_SPEC = re.compile(r"[<>=!~;\[\s@(].*", re.DOTALL)
_DASHES = re.compile(r"[-_.]+")
_RUNNERS = {
    "npx": "",
    "bunx": "",
    "uvx": "",
    "pnpm": "dlx",
    "yarn": "dlx",
    "pipx": "run",
    "npm": "exec",
    "bun": "x",
    "uv": "tool run",
}
"""What runs a package at once, each with the words before the package."""
_ADDS = {
    "pip": ("pypi", "install download"),
    "pipx": ("pypi", "install inject"),
    "poetry": ("pypi", "add"),
    "pdm": ("pypi", "add"),
    "rye": ("pypi", "add install"),
    "easy_install": ("pypi", ""),
    "npm": ("npm", "install i add"),
    "pnpm": ("npm", "add install i"),
    "yarn": ("npm", "add"),
    "bun": ("npm", "add install i"),
    "gem": ("gem", "install"),
    "cargo": ("cargo", "install add"),
    "go": ("go", "install get"),
    "brew": ("brew", "install"),
}
"""Installers, each with the index it takes packages from and its verbs."""


class InstallCommand(NamedTuple):
    """What one command installs or runs, of which kind, and whether it runs it at once."""

    kind: str
    packages: tuple[ShellWord, ...]
    once: bool = False


def read_install(call: ShellCall) -> InstallCommand | None:
    """Return what the call installs, or None when it installs nothing."""
    words = call.words
    name = call.name
    if name == "python" and call.args[:2] in (("-m", "pip"), ("-m", "pipx")):
        name = call.args[1]
        words = words[2:]
    elif name == "uv" and (call.args[:1] == ("pip",) or call.args[:2] == ("tool", "install")):
        name = "pip"
        words = words[1:]
    elif name == "uv" and call.args[:1] == ("add",):
        name = "pip"
        words = (words[0]._replace(text="install"), *words[1:])
    steps = _RUNNERS.get(name, "").split()
    if name in _RUNNERS and [word.text for word in words[: len(steps)]] == steps:
        return _once(name, words[len(steps) :])
    if name not in _ADDS:
        return None
    kind, verbs = _ADDS[name]
    verb = next((place for place, word in enumerate(words[:4]) if word.text in verbs.split()), -1)
    if verbs and verb < 0:
        return None
    return InstallCommand(kind, tuple(_plain(words[verb + 1 :])))


def _once(name: str, words: tuple[ShellWord, ...]) -> InstallCommand:
    kind = "pypi" if name in ("uvx", "pipx", "uv") else "npm"
    given = [
        words[place + 1]
        for place, word in enumerate(words[:-1])
        if word.text in ("-p", "--package", "--from", "--with")
    ]
    return InstallCommand(kind, tuple(given or _plain(words)[:1]), once=True)


def _plain(words: tuple[ShellWord, ...]) -> list[ShellWord]:
    """Return the words that are no options and no values of options."""
    found = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.text[:1] == "-":
            skip = word.text in _VALUED
        elif word.text and word.text[:1] not in ("$", "<", "{", ".", "/", "~"):
            found.append(word)
    return found


def bare(spec: str) -> str:
    """Return the name in a package specification: `Requests[socks]==2.1` is `requests`, `@a/b@1` is
    `@a/b`.
    """
    text = spec.strip().strip("'\"").lower()
    return text[:1] + _SPEC.sub("", text[1:]) if text else ""


_KNOWN_PACKAGES = PYPI | NPM | REAL


def lookalike(spec: str, kind: str) -> str:
    """Return the well-known package that the name is nearly that of, or an empty text; the first by
    the alphabet where several are near.
    """
    name = bare(spec)
    popular = {"pypi": PYPI, "npm": NPM}.get(kind)
    if (
        popular is None
        or not 4 < len(name) < 40
        or "/" in name
        or ":" in name
        or name in _KNOWN_PACKAGES
    ):
        return ""
    plain = _DASHES.sub("-", name)
    if kind == "pypi" and plain in PYPI:
        return ""
    tight = plain.replace("-", "")
    near = (
        known
        for known in popular
        if len(known) > 4
        and abs(len(known) - len(name)) < 3
        and (
            _near(name, known)
            or (tight == _DASHES.sub("", known) and plain != _DASHES.sub("-", known))
        )
    )
    return min(near, default="")


def _near(one: str, other: str) -> bool:
    """Say whether one letter was added, left out, changed or swapped with its neighbour."""
    if abs(len(one) - len(other)) > 1:
        return False
    first = 0
    while first < min(len(one), len(other)) and one[first] == other[first]:
        first += 1
    a = one[first:]
    b = other[first:]
    if len(a) == len(b):
        return a[1:] == b[1:] or (a[:2] == b[:2][::-1] and a[2:] == b[2:])
    return a[1:] == b if len(a) > len(b) else b[1:] == a


# --- install commands in shell texts

_GIT = re.compile(
    r"^(?:[\w.-]{1,80}\s?@\s?)?git\+|^git(?:hub|lab)?:|\.git(?:[#@]|$)|^ssh://|^https?://(?:github"
    r"|gitlab)\.com/[^/\s]{1,80}/[^/\s]{1,80}/?$"
)
_ADDRESS = re.compile(r"^(?:[\w.\[\]-]{1,80}\s?@\s?)?(?:https?|ftp)://")
_REPOSITORY = re.compile(r"^[\w.-]{1,60}/[\w.-]{1,80}(?:#[\w./-]{1,80})?$")
_INDEX = (
    "--index-url",
    "--extra-index-url",
    "-i",
    "--registry",
    "--index",
    "--default-index",
    "--find-links",
    "-f",
    "--source",
    "-s",
)
_ARCHIVE = re.compile(
    r"(?i)\.(?:zip|tar|tgz|tar\.gz|tar\.xz|tar\.bz2|7z|rar|exe|msi|dmg|pkg|deb|rpm|appimage|bin|run|whl|jar|so|dylib"
    r"|dll)(?:[?#]|$)|/releases/(?:latest/)?download/"
)
_TAPS = tuple(
    word_set(
        "homebrew/ hashicorp/ mongodb/ aws/ azure/ dart-lang/ heroku/ stripe/ supabase/ "
        "vercel/ microsoft/ goreleaser/ charmbracelet/ oven-sh/ steipete/ cloudflare/ "
        "planetscale/ turso/ fluxcd/"
    )
)
_IMAGES = re.compile(
    r"^(?:docker\.io/)?(?:library/)?[a-z0-9_-]{2,40}(?::[\w.-]{1,80})?$|^(?:mcr\.microsoft\.com|gcr\.io/google"
    r"|quay\.io/(?:prometheus|coreos)|public\.ecr\.aws/(?:docker|aws))"
)
_MOUNTS = re.compile(
    r"^(?:/:|~(?:/?:|/\.)|\$HOME(?:/?:|/\.)|/var/run/docker\.sock|/etc|/root|/home/?:)"
)
_UNCHECKED = word_set(
    "--trusted-host --allow-unauthenticated --nogpgcheck --no-gpg-checks --force-yes "
    "--allow-untrusted --no-verify-ssl --ignore-scripts=false "
    "--allow-insecure-repositories --no-check-gpg"
)
_CHECKERS = word_set("pip apt apt-get yum dnf apk npm zypper uv python")
_SOURCES = word_set(
    "brew apt-key add-apt-repository apt-add-repository rpm dnf yum helm choco flatpak"
)
_URL_RUNNERS = word_set("deno bun uv node tsx groovy mshta rundll32 regsvr32")
_ADDITIONS = frozenset(
    (
        "mcp add",
        "mcp add-json",
        "plugin install",
        "skills add",
        "skills install",
        "extensions install",
        "plugins install",
        "plugin add",
    )
)
_SOURCE_FILES = ("/etc/apt/sources.list", "/etc/yum.repos.d", "/etc/apt/trusted")
_AGENTS = word_set(
    "claude codex gemini cursor code openclaw clawdbot clawhub skills hermes moltbot"
)


def find_installs(code: str) -> list[RuleHit]:
    """Return what a shell text installs from elsewhere, in the order of its places."""
    script = commands.read_script(code)
    hits = (hit for call in script.calls for hit in _check_call(script, call))
    return limit_hits(hits, _by_start)


def find_manifest(path: str, text: str) -> list[RuleHit]:
    """Return what a package's manifest brings in. The path says which kind it is."""
    return limit_hits(read_manifest(path, text), _by_start)


def _by_start(hit: RuleHit) -> tuple[int, str]:
    return hit.start, hit.rule


def _check_call(script: ShellScript, call: ShellCall) -> Iterator[RuleHit]:
    wanted = read_install(call)
    if wanted:
        yield from _packages(call, wanted)
        yield from _indexes(call)
    if call.name in _CHECKERS and any(arg in _UNCHECKED for arg in call.args):
        yield call.hit("SC519")
    if call.name in _SOURCES:
        yield from _sources(call)
    elif call.name in ("docker", "podman") and call.has("run"):
        yield from _image(call)
    elif call.name in _URL_RUNNERS and _straight(call):
        yield call.hit("SC516")
    elif call.name in commands.FETCHERS:
        yield from _download(script, call)
    elif call.name in _AGENTS and _adds(call):
        yield call.hit("SC518")
    if any(place in one.target.text for one in call.redirects for place in _SOURCE_FILES) or (
        call.name == "tee"
        and any(arg.startswith(("/etc/apt/", "/etc/yum.repos.d")) for arg in call.args)
    ):
        yield call.hit("SC511")


def _straight(call: ShellCall) -> bool:
    """Say whether the program itself is an address, and not one of its arguments."""
    plain = call.plain()
    return bool(
        _ADDRESS.match(
            " ".join(plain[1:2] if plain[:1] in (["run"], ["x"], ["serve"]) else plain[:1])
        )
    )


def _packages(call: ShellCall, wanted: InstallCommand) -> Iterator[RuleHit]:
    for word in wanted.packages[:50]:
        text = word.text
        if _GIT.search(text):
            yield RuleHit("SC503", word.start, word.end)
        elif _ADDRESS.match(text):
            yield RuleHit("SC502", word.start, word.end, remote.shady(text[text.find("http") :]))
        elif wanted.kind == "npm" and text[:1] != "@" and _REPOSITORY.match(text):
            yield RuleHit("SC503", word.start, word.end)
        else:
            meant = lookalike(text, wanted.kind)
            if meant:
                yield RuleHit("SC501", word.start, word.end, f"{text[:60]} is nearly {meant}")
    if wanted.once and wanted.packages:
        name = wanted.packages[0].text
        newest = name.endswith("@latest") or call.has("-y", "--yes")
        yield call.hit("SC506" if newest else "SC505")
        if name.split("@")[0] in (
            "skills",
            "add-skill",
            "clawhub",
            "add-mcp",
            "install-mcp",
        ) and call.has("add", "install"):
            yield call.hit("SC518")
    if wanted.kind == "go" and any(
        word.text.endswith(("@latest", "@master", "@main")) for word in wanted.packages
    ):
        yield call.hit("SC507")


def _indexes(call: ShellCall) -> Iterator[RuleHit]:
    for word in call.option(*_INDEX):
        url = word.text
        if "://" in url and not commands.host(url).startswith(("localhost", "127.")):
            rest = url.partition("://")[2].rpartition("@")[2].lower()
            if not remote.under(rest, INDEXES) and not rest.partition("/")[0].endswith(
                (".pkg.dev", ".amazonaws.com", ".pythonhosted.org")
            ):
                yield RuleHit("SC504", word.start, word.end, remote.shady(url))


def _sources(call: ShellCall) -> Iterator[RuleHit]:
    plain = call.plain()
    if call.name == "brew":
        if plain[:1] == ["tap"] and len(plain) > 1 and not plain[1].lower().startswith(_TAPS):
            yield call.hit("SC509")
    elif call.name in ("apt-key", "add-apt-repository", "apt-add-repository") or call.has(
        "--import", "--add-repo", "addrepo"
    ):
        yield call.hit("SC511")
    elif (call.name in ("helm", "flatpak") and plain[:2] in (["repo", "add"], ["remote-add"])) or (
        call.name == "choco" and plain[:2] == ["source", "add"]
    ):
        yield call.hit("SC509")


def _image(call: ShellCall) -> Iterator[RuleHit]:
    mounts = [word.text for word in call.option("-v", "--volume")]
    if not any(_MOUNTS.match(mount) for mount in mounts):
        return
    images = [
        arg
        for arg in call.plain()
        if "/" in arg
        and arg not in mounts
        and re.match(r"^[a-z0-9][\w.-]*(?::\d+)?/[\w./-]+(?::[\w.-]+)?$", arg)
    ]
    if images and not _IMAGES.match(images[0]) and "@sha256:" not in images[0]:
        yield call.hit("SC510", images[0][:80])


def _download(script: ShellScript, call: ShellCall) -> Iterator[RuleHit]:
    for url, word in commands.urls(call):
        if _ARCHIVE.search(url) and not remote.is_this_machine(url):
            yield RuleHit("SC517", word.start, word.end, url[:120])
    for one in script.after(call):
        if one.name in ("npm", "pip", "uv", "apt-key", "gpg") and (
            one.name != "gpg" or one.has("--dearmor", "--import")
        ):
            yield call.hit("SC511" if one.name in ("apt-key", "gpg") else "SC502")


def _adds(call: ShellCall) -> bool:
    plain = [arg for arg in call.args[:4] if arg[:1] != "-"]
    return (
        " ".join(plain[:2]) in _ADDITIONS
        or (call.name in ("clawhub", "skills") and plain[:1] in (["install"], ["add"]))
        or call.has("--install-extension")
    )


# --- package manifests

_MAX_MANIFEST_CHARS = 1 << 20
_HOOKS = (
    "preinstall install postinstall prepare preprepare postprepare prepublish preuninstall "
    "postuninstall"
)
_TABLES = (
    "dependencies devDependencies optionalDependencies peerDependencies bundledDependencies "
    "resolutions overrides"
)
_USUAL = re.compile(
    r"^(?:husky|npm run|pnpm|yarn|bun run|tsc|lefthook|simple-git-hooks|is-ci|patch-package|prisma generate|node-gyp"
    r"|prebuild-install|node-pre-gyp|rollup|vite|tsup|ngcc|electron-builder|playwright install|lint-staged|wxt|nuxt"
    r"|svelte-kit|turbo|ultra|effect)\b"
)
_ELSEWHERE = re.compile(
    r"^(?:git\+|git:|github:|gitlab:|bitbucket:|gist:|https?://|ssh://|file:\.\./\.\.)"
    r"|^[\w.-]{1,60}/[\w.-]{1,80}(?:#\S{1,80})?$|\.git(?:#|$)"
)
_WORSE = word_set(
    "SC201 SC203 SC204 SC206 SC208 SC210 SC211 SC212 SC213 SC215 SC216 SC219 SC220 SC221 "
    "SC230 SC231 SC236 SC237 SC238 SC217 SC247 SC243 SC516"
)
_PINNED = re.compile(r"@\s?(git\+|https?://)|^(git\+|https?://)|^-e\s+git\+")
_REQUIREMENT = re.compile(
    r"^[ \t]*([A-Za-z0-9][\w.-]{0,80})[ \t]*(?:\[[^\]\n]{0,80}\])?[ \t]*(?=[<>=!~;@#\n]|$)",
    re.MULTILINE,
)
_INDEX_LINE = re.compile(
    r"^[ \t]*(--index-url|--extra-index-url|-i|--find-links|-f|--trusted-host)[ \t=]+(\S{1,500})",
    re.MULTILINE,
)
_LINK_LINE = re.compile(
    r"^[ \t]*(?:-e[ \t]+)?(?:[\w.\[\]-]{1,80}[ \t]*@[ \t]*)?((?:git\+|https?://)\S{1,500})",
    re.MULTILINE,
)
_QUOTED_LINK = re.compile(
    r"[\"'](?:[\w.\[\]-]{1,80}\s?@\s?)?(git\+[^\"'\s]{1,300}|https?://[^\"'\s]{1,300}\.(?:whl|tar\.gz|tgz|zip))[\"']"
)
_LINK_SIGNS = ("git+", ".whl", ".tar.gz", ".tgz", ".zip")
"""What one of them holds."""
_CMDCLASS = re.compile(r"\bcmdclass\s{0,3}[=:]|[\"']cmdclass[\"']\s{0,3}:")
_ACTS = re.compile(
    r"\b(?:os\.system|subprocess\.|urlopen|urlretrieve|requests\.(?:get|post)|socket\.|exec\(|eval\(|b64decode"
    r"|marshal\.loads|ctypes\.)"
)


def read_manifest(path: str, text: str) -> Iterator[RuleHit]:
    """Give the hits of one manifest; its file name says how it is read."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1].lower()
    text = text[:_MAX_MANIFEST_CHARS]
    if name.endswith("package.json"):
        yield from _package_json(text)
    elif name.endswith(".txt") and ("require" in name or "constraint" in name):
        yield from _requirements(text)
    elif name.endswith("pyproject.toml"):
        yield from _pyproject(text)
    elif name.endswith("setup.py"):
        yield from _setup(text)
    elif name.endswith((".json", ".yaml", ".yml", ".toml", ".cfg", ".md")) and "lock" not in name:
        yield from _quoted_links(text)


def _quoted_links(text: str) -> Iterator[RuleHit]:
    if any(sign in text for sign in _LINK_SIGNS):
        yield from _links(_QUOTED_LINK, text)


def _links(pattern: re.Pattern[str], text: str) -> Iterator[RuleHit]:
    return (RuleHit("SC514", *match.span(1)) for match in pattern.finditer(text))


def _package_json(text: str) -> Iterator[RuleHit]:
    from metier.scan.languages.shell import scan_shell

    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    if not isinstance(data, dict):
        return
    scripts = data.get("scripts")
    scripts = scripts if isinstance(scripts, dict) else {}
    for hook in _HOOKS.split():
        command = scripts.get(hook)
        if not isinstance(command, str) or not command:
            continue
        start, end = _spot(text, hook, command)
        bad = [
            hit.rule
            for hit in (*scan_shell.find(command), *find_installs(command))
            if hit.rule in _WORSE or hit.rule == "SC290"
        ]
        if bad:
            yield RuleHit("SC512", start, end, command[:200])
        elif not _USUAL.match(command):
            yield RuleHit("SC513", start, end, command[:200])
    for table in _TABLES.split():
        wanted = data.get(table)
        if isinstance(wanted, dict):
            yield from _dependencies(text, wanted)


def _dependencies(text: str, wanted: dict[Any, Any]) -> Iterator[RuleHit]:
    for name, version in list(wanted.items())[:500]:
        if isinstance(version, str) and _ELSEWHERE.search(version):
            yield RuleHit("SC514", *_spot(text, str(name), version), version[:120])
        meant = lookalike(str(name), "npm")
        if meant:
            yield RuleHit("SC501", *_spot(text, str(name), ""), f"{name} is nearly {meant}"[:120])


def _spot(text: str, key: str, value: str) -> tuple[int, int]:
    """Return where a key of a JSON text is written, up to the end of its value where that is found
    near it.
    """
    start = text.find(f'"{key}"')
    if start < 0:
        return 0, min(len(text), 1)
    end = start + len(key) + 2
    found = (
        text.find(json.dumps(value, ensure_ascii=False), end, end + len(value) * 2 + 40)
        if value
        else -1
    )
    return start, found + len(value) + 2 if found >= 0 else end


def _requirements(text: str) -> Iterator[RuleHit]:
    for match in _INDEX_LINE.finditer(text):
        host = match[2].partition("://")[2].rpartition("@")[2].lower() or match[2].lower()
        if not under(host, INDEXES):
            yield RuleHit(
                "SC519" if match[1] == "--trusted-host" else "SC504", match.start(1), match.end(2)
            )
    yield from _links(_LINK_LINE, text)
    for match in _REQUIREMENT.finditer(text):
        meant = lookalike(match[1], "pypi")
        if meant:
            yield RuleHit("SC501", *match.span(1), f"{match[1]} is nearly {meant}")


def _pyproject(text: str) -> Iterator[RuleHit]:
    yield from _quoted_links(text)
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
            yield RuleHit("SC501", at, at + len(wanted), f"{wanted[:60]} is nearly {meant}")
    build = data.get("build-system")
    if isinstance(build, dict) and "backend-path" in build:
        at = max(0, text.find("backend-path"))
        yield RuleHit("SC515", at, at + len("backend-path"))


def _setup(text: str) -> Iterator[RuleHit]:
    match = _CMDCLASS.search(text)
    if not match:
        return
    acts = _ACTS.search(text)
    yield RuleHit(
        "SC512"
        if acts
        and re.search(
            r"class \w{1,80}\((?:\w{1,40}\.)?(?:install|develop|egg_info|build_py)\b", text
        )
        else "SC515",
        match.start(),
        match.end(),
    )
