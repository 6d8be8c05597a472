"""Data that leaves: which call sends something, and what flows into it through pipes, substitutions, files and variables."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.rule import Hit
from metier.scan.rules import places
from metier.scan.shell import hosts
from metier.scan.shell.calls import FETCHERS, NETWORK, Call, Script, host, urls
from metier.scan.shell.connect import NETCATS
from metier.scan.shell.naming import named
from metier.scan.shell.secrets import Secret, dumps_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.scan.shell.naming import Texts
    from metier.scan.shellwords import Word

_BODY = (
    "-d", "--data", "--data-binary", "--data-raw", "--data-urlencode", "--data-ascii", "-F", "--form", "--form-string", "-T",
    "--upload-file", "--post-data", "--post-file", "--body-data", "--body-file", "--json", "-Body", "-InFile",
)  # fmt: skip
_MOST = 100
"""How many words of one call, and calls inside it, are matched with one another."""
_FILES = ("-T", "--upload-file", "--post-file", "--body-file", "-InFile")
_HEADERS = ("-H", "--header", "-u", "--user", "-b", "--cookie", "-A", "--user-agent", "--oauth2-bearer", "-e", "--referer")
_FACTS = frozenset((
    "whoami", "hostname", "id", "ifconfig", "ipconfig", "systeminfo", "sw_vers", "lsb_release", "w", "last", "ps", "netstat",
    "lsof", "arp", "system_profiler",
))  # fmt: skip
_COPIERS = frozenset(("scp", "sftp", "rsync", "rclone", "croc", "magic-wormhole", "wormhole"))
_MAILERS = frozenset(("mail", "mailx", "sendmail", "mutt", "msmtp", "swaks", "ssmtp"))
_REMOTE = re.compile(r"^(?:[\w.$-]{1,64}@)?[\w.${}-]{1,200}:(?!\\)(?!//)|^rsync://|^(?:s3|gs|sftp|ftp)://")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w{0,80})", re.ASCII)
_LABEL = re.compile(r"(?:\$\(\)|\$\{?\w{1,80}\}?)\.[\w$]")
_LABELLED = re.compile(r"(?i)(?:credential|password|secret|private.?key)s?[\"']?\s{0,3}[=:]\s{0,3}[\"']?\$")
_TEXT = frozenset((
    "echo", "printf", "cat", "jq", "date", "seq", "tr", "sed", "base64", "awk", "cut", "head", "tail", "grep", "true", "yes",
    "uuidgen", "openssl", "xxd", "gzip", "sort",
))  # fmt: skip
_CRITICAL = {"credential": "SC230", "environment": "SC231", "facts": "SC237"}


class _Flow(NamedTuple):
    """What is known so far: which calls carry which kind, and which files and variables hold what they gave."""

    kinds: dict[int, set[str]]
    held: dict[str, set[str]]


def check(script: Script, found: list[Secret], texts: Texts) -> Iterator[Hit]:
    """Give the hits of one script."""
    flow = _Flow({}, {})
    for secret in found:
        if secret.reads or script.calls[secret.call].name in FETCHERS or secret.rule == "SC224":
            flow.kinds.setdefault(secret.call, set()).add("metadata" if secret.rule == "SC227" else "credential")
    for call in sorted(script.calls, key=lambda one: (one.command.start, -one.command.end, one.place)):
        _settle(script, call, flow)
        if sends(call):
            yield from _sent(script, call, flow)
        elif call.name in ("dig", "nslookup", "host", "drill", "ping", "getent"):
            yield from _looked_up(call, flow)
    yield from _collectors(texts)


def sends(call: Call) -> bool:
    """Say whether the call sends data over the network."""
    if call.name in ("curl", "wget", "curlie", "xh", "http", "https", "iwr", "irm", "invoke-webrequest", "invoke-restmethod"):
        return True
    device = any("/dev/tcp/" in one.target.text or "/dev/udp/" in one.target.text for one in call.command.redirects)
    return (
        device
        or call.name in NETCATS
        or call.name in _COPIERS
        or call.name in _MAILERS
        or call.name in ("socat", "telnet", "ftp", "openssl", "websocat", "ssh")
    )


def _own(call: Call, flow: _Flow) -> set[str]:
    """Return what a call itself reads, and what the variables and files in its words hold."""
    kinds = set(flow.kinds.get(call.place, ()))
    if dumps_environment(call):
        kinds.add("environment")
    if call.name in _FACTS:
        kinds.add("facts")
    if flow.held:
        for word in (*call.words, *[one.target for one in call.command.redirects if one.op == "<"]):
            kinds |= _holds(word.text, flow)
    return kinds


def _holds(text: str, flow: _Flow) -> set[str]:
    kinds: set[str] = set()
    for match in _VARIABLE.finditer(text[:4096]):
        kinds |= flow.held.get("$" + match[1], set())
    return kinds | flow.held.get(text.rpartition("@")[2].rsplit("/", 1)[-1].partition(";")[0], set())


def _settle(script: Script, call: Call, flow: _Flow) -> None:
    """Work out what flows into a call, and which files and variables hold it afterwards."""
    kinds = _own(call, flow)
    for one in script.below(call):
        kinds |= _own(one, flow)
    for one in script.before(call):
        kinds |= flow.kinds.get(one.place, set())
    if not kinds or sends(call):
        flow.kinds[call.place] = kinds
        return
    flow.kinds[call.place] = kinds
    for name, word in call.command.assigns:
        if not call.name and ("$" in word.text or places.names("credential", word.text)):
            flow.held["$" + name] = set(kinds)
    targets = [one.target.text for one in call.command.redirects if one.op in (">", ">>", ">|")]
    if call.name in ("tar", "zip", "7z", "cp", "mv", "tee", "gzip", "openssl", "gpg", "ditto", "rsync"):
        targets += [arg for arg in call.plain() if not places.names("credential", arg) and ("." in arg or arg[:1] in "/~$")]
    if call.name in ("export", "local", "declare", "readonly"):
        flow.held.update(("$" + arg.partition("=")[0], set(kinds)) for arg in call.args if "$()" in arg)
    for target in targets:
        base = target.rstrip("/").rsplit("/", 1)[-1]
        if base and base not in ("null", "stdout", "stderr"):
            flow.held[base] = set(kinds)


def _sent(script: Script, call: Call, flow: _Flow) -> Iterator[Hit]:
    """Look at what goes into a call that sends."""
    bodies = _bodies(call)[:_MOST]
    spans = [(word.start, word.end) for word in bodies]
    inside = [one for one in islice(script.below(call), _MOST) if any(start <= one.command.start < end for start, end in spans)]
    sources = script.before(call) + inside
    kinds: set[str] = set(flow.kinds.get(call.place, ())) if call.name not in NETWORK else set()  # cat x > /dev/tcp/host/port
    for one in sources:
        kinds |= flow.kinds.get(one.place, set()) | _own(one, flow)
    for word in bodies:
        kinds |= _holds(word.text, flow)
    files = [word.text for word in bodies] if call.name in _COPIERS else _uploads(call)
    files += [one.target.text for one in call.command.redirects if one.op == "<"]
    if any(places.names("credential", text) and not text.endswith(".pub") for text in files):
        kinds.add("credential")
    yield from _verdict(script, call, kinds, sources)


def _uploads(call: Call) -> list[str]:
    """Return the files that a fetcher is told to send."""
    whole = [word.text for word in call.option(*_FILES)]
    return whole + [
        word.text.rpartition("@")[2]
        for word in call.option(*_BODY)
        if word.text[:1] == "@" or "=@" in word.text or "@/" in word.text
    ]


def _bodies(call: Call) -> list[Word]:
    """Return the words whose content is sent: bodies, uploads, and addresses; not headers, where a key belongs."""
    if call.name in FETCHERS:
        kept: list[Word] = []
        skip = False
        for word in call.words:
            header = word.text in _HEADERS
            if (not skip and not header) or (
                skip
                and not re.match(
                    r"(?i)\s*(?:authorization|x-[\w-]*(?:key|token|auth)|api-?key|private-token|cookie|bearer)", word.text
                )
                and ":" in word.text
            ):
                kept.append(word)
            skip = header
        return kept
    if call.name == "openssl" and not call.has("s_client"):
        return []
    aside = call.option("-i", "-F", "-o")
    return [word for word in call.words[:_MOST] if word not in aside]


def _verdict(script: Script, call: Call, kinds: set[str], sources: list[Call]) -> Iterator[Hit]:
    start = min([call.command.start, *[one.command.start for one in script.before(call)]])
    span = (start, max(call.command.end, start))
    if call.name in ("ssh", "openssl") and not script.before(call):
        return
    local = [url for url, _ in urls(call)]
    if local and all(hosts.here(url) for url in local):
        return
    critical = [_CRITICAL[kind] for kind in ("credential", "environment", "facts") if kind in kinds]
    for rule in critical:
        yield Hit(rule, *span)
    if critical:
        return
    if call.name in _COPIERS:
        if any(_REMOTE.match(arg) for arg in call.plain()[-1:]):
            yield Hit("SC235", *span)
    elif call.name in NETCATS or any("/dev/tcp/" in one.target.text for one in call.command.redirects):
        yield from _raw(script, call, span)
    elif call.name in FETCHERS:
        yield from _uploaded(call, sources, span)


def _raw(script: Script, call: Call, span: tuple[int, int]) -> Iterator[Hit]:
    near = any(hosts.here(arg) for arg in call.plain())
    fed = any(one.name not in ("echo", "printf", "yes") for one in script.before(call)) or any(
        one.op == "<" for one in call.command.redirects
    )
    if fed and not near and not call.flagged("l") and not call.flagged("z"):
        yield Hit("SC236", *span)


def _uploaded(call: Call, sources: list[Call], span: tuple[int, int]) -> Iterator[Hit]:
    values = call.option(*_BODY)
    packed = any(
        one.name in ("base64", "xxd", "gzip", "rev") or (one.name == "openssl" and one.has("enc", "base64")) for one in sources
    )
    if packed and any(one.name not in ("base64", "xxd", "gzip", "rev", "openssl", "tr") for one in sources):
        yield Hit("SC217", *span)
    if any(one.name and one.name not in _TEXT for one in sources):
        yield Hit("SC238", *span)
    elif _uploads(call):
        yield Hit("SC232", *span)
    piped = [word for one in sources if one.name in ("echo", "printf") for word in one.words]
    for word in (*values, *piped, *[word for _, word in urls(call)]):
        secret = next((match[1] for match in _VARIABLE.finditer(word.text[:4096]) if places.secret_name(match[1])), "")
        secret = secret or ("credential" if word in piped and _LABELLED.search(word.text[:4096]) else "")
        if secret:
            yield Hit("SC239", word.start, word.end, f"${secret} to {', '.join(host(url) for url, _ in urls(call))[:80]}")
            return


def _looked_up(call: Call, flow: _Flow) -> Iterator[Hit]:
    for word in call.words:
        if _LABEL.search(word.text) and ("$()" in word.text or _holds(word.text, flow)):
            yield Hit("SC234", call.command.start, call.command.end)
            return


def _collectors(texts: Texts) -> Iterator[Hit]:
    for call, word, _, what in named("exfiltration", texts):
        if call.name not in ("echo", "printf", "grep", "dig", "whois"):
            yield Hit(hosts.collector(what), word.start, word.end, what)
