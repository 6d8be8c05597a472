"""What a shell text does: its commands are taken apart, and each family of behaviour is looked for
in them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.scan.languages.shell import commands, exfiltration, harm, read, remote
from metier.scan.languages.shell.commands import named_places
from metier.scan.languages.shell.exfiltration import (
    SEARCHES,
    SECRET_FILES,
    WATCHERS,
    ShellSecret,
    dumps_environment,
)
from metier.scan.model import RuleHit, limit_hits, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.scan.languages.shell.commands import ScriptWords, ShellCall, ShellScript
    from metier.scan.languages.shell.read import ShellWord

_MAX_EVIDENCE_CHARS = 240

_MANAGERS = word_set(
    "npm pnpm yarn pip pipx uv poetry conda mamba brew apt apt-get dnf yum apk pacman gem "
    "cargo go choco winget scoop snap port nix-env composer zypper"
)
_INSTALLS = word_set("install add i get ci -S -Sy upgrade update require sync tool")


def find(code: str) -> list[RuleHit]:
    """Return what a shell text does, in the order of its places."""
    return [
        hit._replace(evidence=hit.evidence[:_MAX_EVIDENCE_CHARS]) if hit.evidence else hit
        for hit in limit_hits(_all(commands.read_script(code)))
    ]


def _all(script: ShellScript) -> Iterator[RuleHit]:
    texts = commands.collect_words(script)
    found = find_secrets(texts)
    yield from remote.check_fetched_code(script)
    yield from remote.check_connections(script)
    yield from check_secrets(script, found)
    yield from exfiltration.check_sending(script, found, texts)
    yield from harm.check_persistence(script, texts)
    yield from harm.check_harm(script)
    yield from _capabilities(script)
    if left := _left_out(script, texts):
        yield RuleHit("SC802", 0, 0, left)


def _left_out(script: ShellScript, texts: ScriptWords) -> str:
    """Say what of a text was not looked at: mass is a way to hide, so it is never passed over in
    silence.
    """
    cut = bool(script.calls) and script.calls[-1].command.via == commands.LEFT_OUT
    if cut or len(script.text) > read.MAX_SCRIPT_CHARS:
        return "more commands than are looked at"
    if commands.crowded(texts):
        return "a place is named more often than is looked at"
    if any(
        len(call.words) > exfiltration.MAX_SENT_WORDS and call.name in commands.NETWORK
        for call in script.calls
    ):
        return "a command with more words than are looked at"
    # bars also stand in tables and in the types of other languages
    acts = commands.NETWORK | commands.INTERPRETERS
    if any(
        call.name in acts
        and len(script.pipelines[call.command.pipeline]) >= commands.MAX_PIPELINE_CALLS
        for call in script.calls
    ):
        return "a pipeline longer than is looked at"
    return ""


def _capabilities(script: ShellScript) -> Iterator[RuleHit]:
    for call in script.calls:
        if call.name in commands.NETWORK:
            yield call.hit("SC290")
        if call.name in _MANAGERS and any(arg in _INSTALLS for arg in call.args[:4]):
            yield call.hit("SC291")
        if "sudo" in call.wraps or "doas" in call.wraps:
            yield call.hit("SC292")


# --- secrets that are read

_IDLE = word_set(
    # these name a secret's place without taking the secret out of it
    "mkdir chmod chown touch ssh-keygen ssh ssh-add ssh-copy-id rm test [ [[ nano vim vi "
    "nvim code emacs subl docker docker-compose podman aws gcloud kubectl git export cd "
    "which npm npx file echo printf alias export restic helm k9s pnpm yarn bun uv dotenv "
    "op for terraform ansible-playbook tee sed"
)
_STORES = (
    "browser",
    "wallet",
    "keychain",
    "keyring",
    "password manager",
    "password store",
    "password database",
    "extension",
    "session",
    "vault",
    "protection keys",
    "cookies",
)
_SECRET_RULES = (
    ("SC222", ("environment file",)),
    ("SC224", ("history",)),
    ("SC223", ("hashes",)),
    ("SC225", ("an agent's",)),
    ("SC226", ("the process environment",)),
    ("SC227", ("instance credentials", "container's credentials")),
    ("SC221", _STORES),
)
"""Words in what a secret's place is, by rule; the first that fits holds."""
_WIDE = re.compile(
    r"^(?:/|~/?|\$HOME/?|/home/?\S{0,40}|/Users/?\S{0,40}|/root/?|/etc/?|~/\.?[\w.-]{1,40}/?)$"
)
_AGENT_FILES = re.compile(
    r"(?i)auth|credential|token|secret|(?:openclaw|clawdbot|moltbot|\.claude)\.json|oauth|\.env$"
)


def find_secrets(texts: ScriptWords) -> list[ShellSecret]:
    """Return the places of secrets that the commands name."""
    return [
        ShellSecret(
            call.place, word, _rule(what), what, part == "<" or (part != ">" and _reads(call, word))
        )
        for call, word, part, what in named_places("credential", texts)
        if _meant(word.text, what) and not _is_left_aside(call, word)
    ]


_LEFT_ASIDE = word_set("--exclude -x --exclude-from --ignore -not ! --glob --skip")


def _is_left_aside(call: ShellCall, word: ShellWord) -> bool:
    """Say whether the word names what the command is to leave alone."""
    if word.text.startswith(("--exclude", "--ignore", "!", "--skip")):
        return True
    place = next((at for at, one in enumerate(call.words) if one is word), 0)
    return bool(place) and call.words[place - 1].text in _LEFT_ASIDE and call.name != "curl"


def _meant(text: str, what: str) -> bool:
    """Say whether the word is a path to the secret, and not a sentence that speaks of it or a file
    beside it.
    """
    if (
        text.count(" ") > 3
        or text.endswith((".pub", "known_hosts", "authorized_keys", "/.ssh/config"))
        or what == "sudo rules"
    ):
        return False
    if what == "an agent's credentials":
        return _AGENT_FILES.search(text) is not None
    return what != "a password manager" or "/" in text


def _rule(what: str) -> str:
    found = (rule for rule, signs in _SECRET_RULES if any(sign in what for sign in signs))
    return next(found, "SC220")


def _reads(call: ShellCall, word: ShellWord) -> bool:
    return not (
        call.name in _IDLE
        or (call.name in ("scp", "rsync", "sftp") and word in call.option("-i"))
        or (
            call.name in ("cp", "mv", "install", "ln")
            and call.words
            and word.end == call.words[-1].end
        )
        or (call.name == "tar" and call.flagged("x"))
    )


def check_secrets(script: ShellScript, found: list[ShellSecret]) -> Iterator[RuleHit]:
    """Give the hits of one script for secrets that are read."""
    for secret in found:
        if secret.reads:
            yield RuleHit(secret.rule, secret.word.start, secret.word.end, secret.what)
    for call in script.calls:
        if rule := _secret_rule(script, call):
            yield call.hit(rule)
    yield from _taken(script, found)


_SAVED = word_set("SC220 SC221 SC223")
_KEPT_BY_BROWSERS = frozenset(
    (
        "saved browser passwords",
        "the browser's key database",
        "the MetaMask extension's data",
        "the Phantom extension's data",
        "browser extension data",
    )
)
_TAKERS = word_set("cat cp tar zip base64 sqlite3 xxd rsync gzip openssl strings 7z dd curl scp mv")
_MANY_SECRETS = 4


def _taken(script: ShellScript, found: list[ShellSecret]) -> Iterator[RuleHit]:
    """Report the stores that no task needs, and a script that goes from store to store."""
    kinds: dict[str, ShellSecret] = {}
    for secret in found:
        name = script.calls[secret.call].name
        if name not in _TAKERS or not secret.reads:
            continue
        if secret.what in _KEPT_BY_BROWSERS:
            yield RuleHit("SC258", secret.word.start, secret.word.end, secret.what)
        if secret.rule in _SAVED:
            kinds.setdefault(secret.what.removeprefix("an ").split(" ")[0], secret)
    if len(kinds) >= _MANY_SECRETS:
        last = list(kinds.values())[-1]
        shown = ", ".join(one.what for one in kinds.values())
        yield RuleHit("SC258", last.word.start, last.word.end, shown)
    for call in script.calls:
        if call.name == "security" and call.args[:1] == ("dump-keychain",) and call.flagged("d"):
            yield call.hit("SC258")


def _secret_rule(script: ShellScript, call: ShellCall) -> str:
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
        return (
            "SC221"
            if first == "dump-keychain" or "$" in " ".join(call.args) or script.after(call)
            else "SC220"
        )
    if (call.name, first) in (
        ("secret-tool", "search"),
        ("git", "credential"),
        ("vaultcmd", "/listcreds"),
        ("cmdkey", "/list"),
    ):
        return "SC220"
    if call.name in ("mimikatz", "lazagne", "hashdump", "chainbreaker", "firefox_decrypt"):
        return "SC221"
    if (
        call.name in WATCHERS
        or (call.name in ("xclip", "xsel") and call.flagged("o"))
        or (call.name == "xinput" and call.has("test", "test-xi2"))
    ):
        return "SC228"
    if call.name in SEARCHES and _searches(call):
        return "SC229"
    return ""


def _searches(call: ShellCall) -> bool:
    where = [arg for arg in call.plain() if _WIDE.match(arg)]
    deep = call.name not in ("grep", "egrep") or call.flagged("r", "R") or call.has("--recursive")
    return (
        bool(where)
        and deep
        and any(SECRET_FILES.search(arg[:500]) for arg in call.args if arg not in where)
    )
