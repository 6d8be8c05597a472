"""Code that comes from elsewhere and is run: piped, substituted, downloaded, decoded, hidden."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.scan import shelltext
from metier.scan.rule import Hit
from metier.scan.shell import hosts
from metier.scan.shell.calls import FETCHERS, INTERPRETERS, LANGUAGES, NETWORK, SHELLS, Call, Script, given_program, urls

if TYPE_CHECKING:
    from collections.abc import Iterator

_RESOLVERS = frozenset(("dig", "nslookup", "host", "drill", "getent", "resolvectl"))
_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{40,}|(?:\\x[0-9A-Fa-f]{2}){8,}|[0-9A-Fa-f]{60,}")
_ESCAPES = re.compile(r"(?:\\x[0-9A-Fa-f]{2}|\\[0-7]{3}){4,}")
_DECODES = re.compile(
    r"(?i)b64decode|b16decode|base64|atob\(|fromhex|unhexlify|zlib\.decompress|marshal\.loads|rot.?13|'hex'|\"hex\""
    r"|chr\(\d"
)
_RUNS = re.compile(r"\b(?:exec|eval|system|popen|Function|execSync|spawn|subprocess|compile|__import__)\b\s{0,3}[(\s]")
_REMOTE = re.compile(r"(?i)urlopen|requests\.get|urllib|http\.get|fetch\(|LWP::|Net::HTTP|file_get_contents\(\s?.http|open-uri")
_HIDDEN = re.compile(
    r"(?:^|/)(?:tmp|var/tmp|dev/shm|\.cache|\.local/share|\.config)/(?:[^/\s]{1,80}/){0,3}\.[\w-][^/\s]{0,80}$"
    r"|^/dev/shm/|^\./\.[\w-]{1,80}$"
)
_ARCHIVES = re.compile(
    r"\.(?:zip|tar|tgz|gz|xz|bz2|7z|rar|json|txt|md|csv|html?|png|jpe?g|pdf|ya?ml|gpg|asc|mp[34]|xml|sql)$",
    re.IGNORECASE,
)
_QUIET_EVALS = frozenset(
    (
        "ssh-agent",
        "brew",
        "direnv",
        "starship",
        "zoxide",
        "pyenv",
        "rbenv",
        "nodenv",
        "fnm",
        "mise",
        "conda",
        "opam",
        "register-python-argcomplete",
        "dircolors",
        "thefuck",
        "mcfly",
        "atuin",
        "keychain",
        "minikube",
        "docker-machine",
        "gpg-agent",
        "luarocks",
        "jenv",
        "goenv",
        "rtx",
        "devbox",
        "op",
    )
)  # fmt: skip
_SPLIT = re.compile(
    r"[a-z](?:''|\"\")[a-z]|^[a-z/]{0,30}(?:'[a-z]{1,8}'|\"[a-z]{1,8}\")[a-z]|^(?:'[a-z]{1,8}'|\"[a-z]{1,8}\"){2}"
    r"|^[a-z]{1,8}(?:'[a-z]{1,8}'|\"[a-z]{1,8}\")$",
    re.IGNORECASE,
)
_SLASHED = re.compile(r"[a-z]\\[a-z]", re.IGNORECASE)
_JOINED = re.compile(
    r"^[\"']?(?:[a-z]{0,8}\$\{?\w{1,40}(?::\d{1,3}:\d{1,3})?\}?[\"']?){2,}[a-z]{0,8}[\"']?$"
    r"|^[\"']?(?:\$\{\w{1,40}:\d{1,3}:\d{1,3}\}){1,}",
    re.IGNORECASE,
)
_WORTH_HIDING = FETCHERS | INTERPRETERS | NETWORK | frozenset((
    "rm", "cat", "chmod", "base64", "eval", "exec", "sudo", "env", "printenv", "xxd", "openssl", "crontab", "dd", "tar",
    "zip", "whoami", "id", "mkfifo", "nohup", "tee", "find", "grep",
    "security", "history", "kill", "pkill", "systemctl", "launchctl", "xmrig", "echo", "printf", "cp", "mv", "head", "tail",
    "uname", "hostname",
))  # fmt: skip
_GLOBBED = re.compile(r"^/(?:[a-z?]{1,8}/){1,3}[a-z?*]{0,8}\?[a-z?*]{0,8}$")


def check(script: Script) -> Iterator[Hit]:
    """Give the hits of one script."""
    for line in script.pipelines.values():
        if len(line) > 1:
            yield from _pipeline(script, line)
    for call in script.calls:
        if call.name in ("eval", "source", ".", "$()", "iex") or call.name in INTERPRETERS:
            yield from _substituted(script, call)
            yield from _inline(call)
        if call.name in FETCHERS or (call.name == "git" and call.has("clone")):
            yield from _sources(call)
        yield from _hidden(script, call)
        if shelltext.decodes(call.name, call.args) and any(
            _BLOB.search(one.body[:8192]) for one in call.command.redirects if one.op == "<<<"
        ):
            yield _hit("SC207", call, None, (shelltext.unbase64(call.command.redirects[0].body) or "")[:200])
        if call.name in (
            "unzip",
            "7z",
            "7za",
            "7zz",
            "unrar",
        ):
            yield from _locked(call)
    yield from _downloaded(script)


def _hit(rule: str, first: Call, last: Call | None = None, evidence: str = "") -> Hit:
    start, end = first.command.start, (last or first).command.end
    return Hit(rule, start, max(end, first.command.end), evidence)


def reads_program(call: Call) -> bool:
    """Say whether an interpreter takes its program from its input: `bash -s` does, `python -m json.tool` does not."""
    if call.name not in INTERPRETERS or call.name == "cmd":
        return False
    if call.name in SHELLS:
        plain = [arg for arg in call.args if arg[:1] not in "-+" or arg == "-"]
        return not (call.flagged("c") and "xargs" not in call.wraps) and (
            not plain or plain[0] in ("-", "/dev/stdin") or call.has("-s")
        )
    if call.name in ("iex", "invoke-expression"):
        return True
    if call.name in ("source", "."):
        return call.args[:1] == ("/dev/stdin",)
    if call.name in ("deno", "bun", "tsx", "pwsh", "powershell"):
        return call.args[-1:] == ("-",)
    return not call.args or call.args[0] in ("-", "-u", "/dev/stdin") or (call.args[0] == "-B" and len(call.args) == 1)


def _pipeline(script: Script, line: list[Call]) -> Iterator[Hit]:
    runner = next((call for call in line[1:] if reads_program(call)), None)
    if runner is None:
        for call in line[1:]:  # tee >(bash)
            runner = next((one for one in script.inside(call, "<(") if reads_program(one)), runner)
    if runner is None:
        yield from _decoded_only(line)
        return
    feeders = [call for call in line if call.place < runner.place]
    for call in feeders:
        if call.name in FETCHERS or any(one.name in FETCHERS for one in script.inside(call, "$(", "`")):
            yield _hit(_piped(call, script), call, runner)
        if call.name in _RESOLVERS:
            yield _hit("SC216", call, runner)
        scrambled = call.name in ("echo", "printf") and any(_ESCAPES.search(arg) for arg in call.args)
        if shelltext.decodes(call.name, call.args) or call.name in ("rev", "tr") or scrambled:
            yield _hit("SC206", feeders[0], runner, _worked_out(feeders))


def _piped(call: Call, script: Script) -> str:
    found = urls(call) or [url for one in script.inside(call) for url in urls(one)]
    if found and all(hosts.here(url) for url, _ in found):
        return "SC202"
    return "SC202" if found and all(hosts.known_installer(url) for url, _ in found) else "SC201"


def _worked_out(feeders: list[Call]) -> str:
    said = shelltext.output([[word.text for word in call.command.words] for call in feeders if call.command.words])
    return (said or "")[:200]


def _decoded_only(line: list[Call]) -> Iterator[Hit]:
    for place, call in enumerate(line[1:], 1):
        if shelltext.decodes(call.name, call.args) and any(_BLOB.search(arg) for arg in line[place - 1].args):
            yield _hit("SC207", line[place - 1], call, _worked_out(line[: place + 1]))
            return


def _substituted(script: Script, call: Call) -> Iterator[Hit]:
    """Look at what is put into a shell's program by a substitution: `bash -c "$(curl …)"`, `source <(curl …)`."""
    inner = script.inside(call, "$(", "`", "<(")
    if call.name in SHELLS and not (call.flagged("c") or any("<(" in arg or arg == "$()" for arg in call.args[:2])):
        inner = script.inside(call, "<(") if call.command.redirects else []
    elif call.name in LANGUAGES and not given_program(call) and not any("<(" in arg for arg in call.args[:2]):
        inner = []
    for one in inner:
        if one.name in FETCHERS:
            yield _hit(_piped(one, script), call)
        elif one.name in _RESOLVERS:
            yield _hit("SC216", call)
        elif shelltext.decodes(one.name, one.args):
            yield _hit("SC206", call, None, _worked_out([*script.before(one), one]))
    if call.name == "eval" and call.args and not any(hit.name in FETCHERS for hit in inner):
        computed = any("$" in arg for arg in call.args)
        if computed and not any(
            one.name in _QUIET_EVALS or one.has("init", "hook", "env", "shellenv", "completion") for one in inner
        ):
            yield _hit("SC209", call)


def _inline(call: Call) -> Iterator[Hit]:
    """Look at code on the command line of another language's interpreter."""
    word = given_program(call)
    code = word.text if word else next((one.body for one in call.command.redirects if one.body), "")
    if not code or call.name in SHELLS:
        return
    code = code[:65536]
    yield Hit("SC293", call.command.start, call.command.end)
    if _DECODES.search(code) and _RUNS.search(code) and (_BLOB.search(code) or "exec(" in code or "eval(" in code):
        yield _hit("SC215", call)
    elif _REMOTE.search(code) and re.search(r"\b(?:exec|eval)\s{0,3}\(", code):
        yield _hit("SC201", call)


def _sources(call: Call) -> Iterator[Hit]:
    for url, word in urls(call):
        why = hosts.shady(url)
        if why:
            yield Hit("SC204", word.start, word.end, f"{why}: {url[:120]}")
        if url[:7].lower() == "http://" and not hosts.here(url):
            yield Hit("SC205", word.start, word.end)


def _hidden(script: Script, call: Call) -> Iterator[Hit]:
    first = call.command.words[len(call.command.words) - len(call.words) - 1] if call.command.words and call.name else None
    if first is None:
        return
    raw = script.text[first.start : first.end]
    if first.masked and call.name in _WORTH_HIDING and len(raw) <= 60 + 3 * len(first.text) and hides(raw):
        yield Hit("SC208", first.start, first.end, first.text[:80])
    elif "?" in raw and _GLOBBED.match(raw):
        yield Hit("SC208", first.start, first.end)
    elif any(word.masked and "IFS" in script.text[word.start : word.end] for word in call.words[:20]):
        yield Hit("SC208", first.start, call.command.end, " ".join((call.name, *call.args))[:200])
    if _HIDDEN.search(first.text) or (call.name in SHELLS and call.args and _HIDDEN.search(call.args[0])):
        yield _hit("SC212", call)


def hides(raw: str) -> bool:
    """Say whether a command's name is written so that nobody finds it by looking for it."""
    return bool(
        "IFS" in raw
        or "$'\\" in raw
        or (raw[:1] == "{" and "," in raw)
        or "$(" in raw
        or "`" in raw
        or _SPLIT.search(raw)
        or _SLASHED.search(raw)
        or _JOINED.search(raw)
    )


def _locked(call: Call) -> Iterator[Hit]:
    password = any(arg[:2] == "-p" and arg not in ("-p", "-p-") for arg in call.args)
    unpacks = call.name == "unrar" or (call.name[:2] == "7z" and call.args[:1] in (("x",), ("e",)))
    if (call.name == "unzip" and call.option("-P")) or (unpacks and password):
        yield _hit("SC214", call)


# --- downloaded, then run


def _downloaded(script: Script) -> Iterator[Hit]:
    """Follow the names of downloaded files to where they are run."""
    files: dict[str, tuple[Call, str]] = {}
    for call in sorted(script.calls, key=lambda one: (one.command.start, one.place)):
        if call.name in FETCHERS:
            for name in outputs(call):
                files[name] = (call, _piped(call, script))
        elif files and (name := _run(call, files)):
            origin, rule = files[name]
            yield _hit(
                "SC203" if rule == "SC201" else rule,
                call,
                None,
                f"{name} comes from {next((url for url, _ in urls(origin)), 'the network')[:120]}",
            )
            if rule == "SC201" and (call.command.link == "&" or "nohup" in call.wraps or "setsid" in call.wraps):
                yield _hit("SC213", call)


def outputs(call: Call) -> list[str]:
    """Return the base names of the files that a fetcher writes."""
    named = [
        word.text
        for word in call.option("-o", "--output", "-O" if call.name == "wget" else "--out", "--output-document", "-OutFile")
    ]
    named += [one.target.text for one in call.command.redirects if one.op in (">", ">>", ">|")]
    if not named and ((call.name == "wget" and not any(arg.endswith("O-") for arg in call.args)) or call.flagged("O")):
        named = [url.split("?")[0] for url, _ in urls(call)]
    bases = [name.rstrip("/").rsplit("/", 1)[-1] for name in named]
    return [base for base in bases if base and base not in ("-", "null") and not _ARCHIVES.search(base)]


def _run(call: Call, files: dict[str, tuple[Call, str]]) -> str:
    """Return which of the files the call runs, if any."""
    word = call.command.words[len(call.command.words) - len(call.words) - 1].text if call.command.words and call.name else ""
    base = word.rsplit("/", 1)[-1]
    if base in files and ("/" in word or call.name not in FETCHERS):
        return base
    if call.name in INTERPRETERS or call.name in ("open", "installer", "start", "eval"):
        for arg in call.args[:4]:
            base = arg.rsplit("/", 1)[-1]
            if base in files:
                return base
    return ""
