"""Secrets that are read: which command names a place that holds some, and really reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.rule import Hit
from metier.scan.shell.naming import named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.scan.shell.calls import Call, Script
    from metier.scan.shell.naming import Texts
    from metier.scan.shellwords import Word

_IDLE = frozenset((  # these name a secret's place without taking the secret out of it
    "mkdir", "chmod", "chown", "touch", "ssh-keygen", "ssh", "ssh-add", "ssh-copy-id", "rm", "test", "[", "[[", "nano",
    "vim", "vi", "nvim",
    "code", "emacs", "subl", "docker", "docker-compose", "podman", "aws", "gcloud", "kubectl", "git", "export", "cd",
    "which", "npm", "npx", "file",
    "echo", "printf", "alias", "export", "restic", "helm", "k9s", "pnpm", "yarn", "bun", "uv", "dotenv", "op", "for",
    "terraform", "ansible-playbook",
))  # fmt: skip
_STORES = (
    "browser", "wallet", "keychain", "keyring", "password manager", "password store", "password database", "extension",
    "session", "vault", "protection keys", "cookies",
)  # fmt: skip
_SEARCHES = frozenset(("grep", "egrep", "rg", "ag", "find", "fd", "locate", "mdfind", "ack"))
_SECRET_FILES = re.compile(
    r"(?i)id_(?:rsa|dsa|ecdsa|ed25519)|\.(?:pem|p12|pfx|kdbx|keystore|ppk)\b|\*\.key\b|wallet|credential|secret|passw"
    r"|\.env\b|seed|mnemonic|api.?key|private.?key|token"
)
_WIDE = re.compile(r"^(?:/|~/?|\$HOME/?|/home/?\S{0,40}|/Users/?\S{0,40}|/root/?|/etc/?|~/\.?[\w.-]{1,40}/?)$")
_AGENT_FILES = re.compile(r"(?i)auth|credential|token|secret|(?:openclaw|clawdbot|moltbot|\.claude)\.json|oauth|\.env$")
_WATCHERS = frozenset((
    "pbpaste", "wl-paste", "screencapture", "scrot", "gnome-screenshot", "grim", "logkeys", "xspy", "imagesnap",
    "get-clipboard",
))  # fmt: skip


class Secret(NamedTuple):
    """A secret's place that a call names: which rule it falls under, what it is, and whether the call reads it."""

    call: int
    word: Word
    rule: str
    what: str
    reads: bool


def secrets(texts: Texts) -> list[Secret]:
    """Return the places of secrets that the commands name."""
    found: list[Secret] = []
    for call, word, part, what in named("credential", texts):
        if _meant(word.text, what):
            found.append(Secret(call.place, word, _rule(what), what, part != ">" and (part == "<" or _reads(call, word))))
    return found


def _meant(text: str, what: str) -> bool:
    """Say whether the word is a path to the secret, and not a sentence that speaks of it or a file beside it."""
    if text.count(" ") > 3 or text.endswith((".pub", "known_hosts", "authorized_keys", "/.ssh/config")) or what == "sudo rules":
        return False
    if what == "an agent's credentials":
        return _AGENT_FILES.search(text) is not None
    return what != "a password manager" or "/" in text


def _rule(what: str) -> str:
    if "environment file" in what:
        return "SC222"
    if "history" in what:
        return "SC224"
    if "hashes" in what:
        return "SC223"
    if what.startswith("an agent's"):
        return "SC225"
    if what == "the process environment":
        return "SC226"
    if "instance credentials" in what or "container's credentials" in what:
        return "SC227"
    return "SC221" if any(store in what for store in _STORES) else "SC220"


def _reads(call: Call, word: Word) -> bool:
    if call.name in _IDLE or (call.name in ("scp", "rsync", "sftp") and word in call.option("-i")):
        return False
    if call.name in ("cp", "mv", "install", "ln") and call.words and word.end == call.words[-1].end:
        return False
    return not (call.name in ("tee", "sed", "ssh-keygen") or (call.name == "tar" and call.flagged("x")))


def check(script: Script, found: list[Secret]) -> Iterator[Hit]:
    """Give the hits of one script for secrets that are read."""
    for secret in found:
        if secret.reads:
            yield Hit(secret.rule, secret.word.start, secret.word.end, secret.what)
    for call in script.calls:
        rule = _call_rule(script, call)
        if rule:
            yield Hit(rule, call.command.start, call.command.end)


def _call_rule(script: Script, call: Call) -> str:
    first = call.args[0] if call.args else ""
    if dumps_environment(call):
        return "SC226"
    if call.name == "security" and first in (
        "dump-keychain",
        "find-generic-password",
        "find-internet-password",
        "export",
        "unlock-keychain",
    ):
        return "SC221" if first == "dump-keychain" or "$" in " ".join(call.args) or script.after(call) else "SC220"
    if (call.name, first) in (("secret-tool", "search"), ("git", "credential"), ("vaultcmd", "/listcreds"), ("cmdkey", "/list")):
        return "SC220"
    if call.name in ("mimikatz", "lazagne", "hashdump", "chainbreaker", "firefox_decrypt"):
        return "SC221"
    if (
        call.name in _WATCHERS
        or (call.name in ("xclip", "xsel") and call.flagged("o"))
        or (call.name == "xinput" and call.has("test", "test-xi2"))
    ):
        return "SC228"
    if call.name in _SEARCHES and _searches(call):
        return "SC229"
    return ""


def _searches(call: Call) -> bool:
    where = [arg for arg in call.plain() if _WIDE.match(arg)]
    deep = call.name not in ("grep", "egrep") or call.flagged("r") or call.flagged("R") or call.has("--recursive")
    return bool(where) and deep and any(_SECRET_FILES.search(arg[:500]) for arg in call.args if arg not in where)


def dumps_environment(call: Call) -> bool:
    """Say whether the call prints the whole environment."""
    if call.name in ("env", "printenv"):
        return not call.args or call.args in (("-0",), ("--null",))
    return (call.name == "set" and not call.args and call.command.link == "|") or (
        call.name in ("export", "declare") and call.args == ("-p",)
    )
