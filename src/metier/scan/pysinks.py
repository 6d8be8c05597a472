"""What Python code does to the machine and the network: the readers of calls that act."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from metier.scan import pyfold, pynames as n, pytext
from metier.scan.pycalls import EVIDENCE_CHARS, LONG_SLEEP, Call
from metier.scan.pyfiles import fetched
from metier.scan.pytaint import NOTHING, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.scan.pytaint import Walk

_COPIES = re.compile(r"\b(?:cat|cp|tar|zip|base64|head|tail|less|type|scp|rsync|sqlite3|xxd|grep|find|curl|openssl)\b")
_KEYCHAIN = re.compile(
    r"\bsecurity\s{1,4}(?:find-(?:generic|internet)-password|dump-keychain|unlock-keychain)"
    r"|\bsecret-tool\s{1,4}(?:lookup|search)"
)
_SPIES = re.compile(r"\b(?:pbpaste|xclip\s[^\n]{0,40}-o|xsel\s[^\n]{0,40}-(?:o|b)|screencapture|wl-paste)\b")
_LOOKUPS = re.compile(r"\b(?:dig|nslookup|drill|host|ping)\s")
_SENDERS = re.compile(r"\b(?:curl|wget|nc|ncat|scp|sftp|rsync|Invoke-WebRequest|Invoke-RestMethod)\s")
_DETACHED = 0x08000000 | 0x00000008  # no window, detached
_HIDES = re.compile(r"\bnohup\b|\bsetsid\b|\bdisown\b|-[wW]indow[sS]tyle\s{1,4}[hH]idden|&\s{0,4}$")
_SHELLS = frozenset(
    {"sh", "bash", "zsh", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh", "osascript", "/bin/sh", "/bin/bash", "/bin/zsh"}
)


# --- code and commands


def acts(walk: Walk, node: ast.AST) -> None:
    """Note that something happens here that a date or a machine decides about."""
    if walk.guard > 0:
        walk.hit("SC326", node)


def _code(walk: Walk, it: Call) -> Value:
    what = it.first
    labels = what.labels
    acts(walk, it.node)
    walk.fact("code", it.node)
    text = _shown(what.const)
    if labels & n.NET:
        walk.hit("SC301", it.node)
    if labels & n.DECODED:
        walk.hit("SC302", it.node, text[:EVIDENCE_CHARS])
    if labels & n.INPUT:
        walk.hit("SC335", it.node)
    if labels & n.FETCHED_PATH:
        walk.hit("SC308", it.node)
    if text and pyfold.HOLE not in text and len(text) > 3:
        walk.nested.append((text, it.node))
    if it.node.args and not isinstance(it.node.args[0], ast.Constant) and not labels & (n.NET | n.DECODED):
        walk.hit("SC346", it.node)
    return Value(labels)


def _shown(const: pyfold.Const) -> str:
    if isinstance(const, bytes):
        return const.decode("utf-8", "replace")
    return const if isinstance(const, str) else ""


def command_text(value: Value) -> str:
    """Give a command as one line: a text, or the items of a list; what is not known is a hole."""
    if isinstance(value.const, str):
        return value.const
    if isinstance(value.const, tuple):
        return " ".join(part if isinstance(part, str) else pyfold.HOLE for part in value.const[:200])
    return ""


def _process(walk: Walk, it: Call) -> Value:
    values = (
        it.args
        if it.name.startswith(("os.exec", "os.spawn", "os.posix", "asyncio."))
        else it.args[:1] or [it.kwargs.get("args", NOTHING)]
    )
    text, labels = " ".join(filter(None, map(command_text, values))), 0
    for value in values:
        labels |= value.labels
    parts = text.split(" ")
    shellish = n.ROLES.get(it.name) == "shell" or it.kwargs.get("shell", NOTHING).const is True
    shellish = shellish or (parts[0] in _SHELLS and len(parts) > 1) or "-c" in parts[1:4] or "-e" in parts[1:3]
    walk.hit("SC391", it.node, text[:EVIDENCE_CHARS].replace(pyfold.HOLE, "…"))
    walk.fact("process", it.node)
    acts(walk, it.node)
    _flows(walk, it, labels, text, shellish=shellish)
    _manner(walk, it, text)
    return _output(walk, it, labels, text)


def _flows(walk: Walk, it: Call, labels: int, text: str, *, shellish: bool) -> None:
    if shellish and labels & n.NET:
        walk.hit("SC301", it.node)
    if shellish and labels & n.DECODED:
        walk.hit("SC302", it.node, text[:EVIDENCE_CHARS])
    if shellish and labels & n.INPUT:
        walk.hit("SC335", it.node)
    if labels & n.FETCHED_PATH or any(path in text for path in walk.fetched):
        walk.hit("SC308", it.node)
    if text:
        for rule in pytext.of_command(text):
            walk.hit(rule, it.node, text[:EVIDENCE_CHARS])
        if shellish and len(walk.commands) < 50:
            walk.commands.append((text, it.node))
        hosts(walk, it.node, pytext.labels(text))
        if labels & n.BUILT and labels & (n.CARRIED | n.ENV) and _LOOKUPS.search(text):
            walk.hit("SC333", it.node)
        elif _SENDERS.search(text):
            walk.fact("network", it.node)
            outflow(walk, it.node, labels)


def _manner(walk: Walk, it: Call, text: str) -> None:
    """Note how a process is started: out of sight, or with a socket for its input and output."""
    flags = it.kwargs.get("creationflags", NOTHING)
    hidden = it.kwargs.get("start_new_session", NOTHING).const is True or it.kwargs.get("preexec_fn", NOTHING).name == "os.setsid"
    hidden = (
        hidden
        or flags.name.endswith(("DETACHED_PROCESS", "CREATE_NO_WINDOW"))
        or (isinstance(flags.const, int) and bool(flags.const & _DETACHED))
    )
    if hidden or _HIDES.search(text):
        walk.hit("SC314", it.node)
    streams = [it.kwargs.get(name, NOTHING).name for name in ("stdin", "stdout", "stderr")]
    if any(name.startswith("socket.") for name in streams):
        walk.hit("SC307", it.node)
    if it.name == "pty.spawn":
        walk.fact("pty", it.node)
    if re.search(r"(?:^|/)(?:ba|z|da|k)?sh(?: -i)?$|^cmd\.exe$", text):
        walk.fact("bare shell", it.node)


def _output(walk: Walk, it: Call, labels: int, text: str) -> Value:
    found = n.PROC
    if (labels & n.CRED_PATH and _COPIES.search(text)) or _KEYCHAIN.search(text):
        walk.hit("SC305", it.node, text[:EVIDENCE_CHARS])
        found |= n.CRED
    if _SPIES.search(text):
        walk.hit("SC316", it.node)
        walk.fact("spy", it.node)
        found |= n.CLIP
    if text.strip() in {"env", "printenv", "set", "export"}:
        found |= n.ENV_ALL
    if text.split(" ", 1)[0] in {"whoami", "hostname", "uname", "id", "ifconfig", "systeminfo", "ipconfig"}:
        found |= n.HOST
    return Value(found, None, f"{it.name}()"[-120:])


# --- the network


def hosts(walk: Walk, node: ast.AST, labels: int) -> None:
    """Name the kinds of hosts that are talked to."""
    for label, rule in ((n.DROP_HOST, "SC318"), (n.CHAT_HOST, "SC319"), (n.BARE_IP, "SC320"), (n.METADATA, "SC341")):
        if labels & label:
            walk.hit(rule, node)


def outflow(walk: Walk, node: ast.AST, labels: int) -> None:
    """Name what leaves the machine, the worst only."""
    worst = (
        (n.CRED, "SC303"),
        (n.ENV_ALL, "SC304"),
        (n.WEAK, "SC331"),
        (n.CLIP, "SC315"),
        (n.PROC, "SC334"),
        (n.HOST, "SC332"),
        (n.FILE, "SC329"),
    )
    for label, rule in worst:
        if labels & label:
            walk.hit(rule, node)
            break
    if labels & n.ENCODED:
        walk.hit("SC347", node)
    elif labels & n.SECRET_ENV:
        walk.hit("SC330", node)


def _network(walk: Walk, it: Call) -> Value:
    labels = 0
    for value in it.args:
        labels |= value.labels
    for key, value in it.kwargs.items():
        if key not in n.PAYLOAD_FREE:
            labels |= value.labels
    for part in it.first.const if isinstance(it.first.const, tuple) else ():
        labels |= pytext.labels(part) if isinstance(part, str) else 0
    walk.hit("SC390", it.node)
    walk.fact("network", it.node)
    acts(walk, it.node)
    hosts(walk, it.node, labels)
    outflow(walk, it.node, labels)
    if it.kwargs.get("verify", NOTHING).const is False:
        walk.hit("SC317", it.node)
    if it.name.startswith("socket.") or it.attr == "connect":
        walk.fact("connect", it.node)
    if it.name.endswith(("urlretrieve", "wget.download")) and len(it.args) > 1:
        fetched(walk, it.node.args[1], it.args[1])
    return Value(n.NET, None, f"{it.name}()"[-120:])


def _maybe_network(walk: Walk, it: Call) -> Value:
    """Take `x.post(…, json=…)` for a request even when nobody knows what `x` is."""
    if set(it.kwargs) & {"json", "data", "files", "headers", "params", "content"} or (
        isinstance(it.first.const, str) and "://" in it.first.const
    ):
        return _network(walk, it)
    return Value(it.labels | it.owner.labels)


def _lookup(walk: Walk, it: Call) -> Value:
    if it.first.labels & (n.CARRIED | n.ENV) and it.first.labels & n.BUILT:
        walk.hit("SC333", it.node)
    return NOTHING


# --- the rest


def _sleep(walk: Walk, it: Call) -> Value:
    seconds = it.first.const
    if isinstance(seconds, int) and seconds >= LONG_SLEEP and not walk.branch:
        walk.fact("long sleep", it.node)
    return NOTHING


def _just(rule: str, label: int = 0) -> Callable[[Walk, Call], Value]:
    def note(walk: Walk, it: Call) -> Value:
        walk.hit(rule, it.node)
        return Value(it.labels | label, None, f"{it.name}()"[-120:])

    return note


def _note(fact: str, label: int = 0) -> Callable[[Walk, Call], Value]:
    def note(walk: Walk, it: Call) -> Value:
        walk.fact(fact, it.node)
        return Value(it.labels | label)

    return note


def _unpickle(walk: Walk, it: Call) -> Value:
    walk.hit("SC323" if it.labels & n.NET else "SC395", it.node)
    return Value(it.labels | n.DECODED)


def _right(walk: Walk, it: Call) -> Value:
    if it.first.const == 0 or any(arg.const == "runas" for arg in it.args):
        walk.hit("SC339", it.node)
    return NOTHING


def _setup(walk: Walk, it: Call) -> Value:
    if "cmdclass" in it.kwargs:
        walk.fact("cmdclass", it.node)
    return NOTHING


SINKS: dict[str, Callable[[Walk, Call], Value]] = {
    "code": _code,
    "shell": _process,
    "process": _process,
    "network": _network,
    "maybe_network": _maybe_network,
    "lookup": _lookup,
    "decrypt": _note("decrypt", n.DECODED),
    "encrypt": _note("encrypt"),
    "unmarshal": _just("SC321", n.DECODED),
    "unpickle": _unpickle,
    "native": _just("SC322"),
    "secret": _just("SC305", n.CRED),
    "tls_off": _just("SC317"),
    "sleep": _sleep,
    "right": _right,
    "dup2": _note("dup2"),
    "bind_all": _note("bind"),
    "setup": _setup,
}
"""Role -> reader, of all that acts and is not a file."""


def finish(walk: Walk) -> None:
    """Draw the conclusions that need several facts of the file."""
    facts = walk.facts
    acting = facts.keys() & {"process", "code", "network"}
    if "spy" in facts and "network" in facts:
        walk.hit("SC315", facts["spy"])
    watchers = [name for name in facts if name.startswith("watcher ")]
    if len(watchers) > 1:
        walk.hit("SC325", facts[watchers[0]])
    joined = facts.keys() & {"dup2", "pty", "bare shell"}
    if joined and facts.keys() & {"connect", "bind"}:
        walk.hit("SC307", facts[min(joined)])
    if {"encrypt", "walk", "delete"} <= facts.keys() and "write" in facts:
        walk.hit("SC342", facts["encrypt"])
    if "install command" in facts and "cmdclass" in facts and acting:
        walk.hit("SC324", facts["install command"])
    if len({name.partition("_")[0] for name in walk.secrets}) > 2:
        walk.hit("SC348", next(iter(walk.secrets.values())))
    if "long sleep" in facts and facts.keys() & {"code", "process"}:
        walk.hit("SC327", facts["long sleep"])
