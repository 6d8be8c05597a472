"""What outlives the task: timed jobs, services, profiles, hooks, keys, and the agent's own instructions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.scan import shelltext
from metier.scan.rule import Hit
from metier.scan.shell.calls import FETCHERS, Call, Script
from metier.scan.shell.naming import named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.scan.shell.naming import Named, Texts

_RULES = {
    "a shell profile": "SC242", "a system shell profile": "SC242", "the cron table": "SC240", "a system service": "SC241",
    "a user service": "SC241", "a launch agent": "SC241", "a launch daemon": "SC241", "a login item": "SC241",
    "a git hook": "SC245",
    "an editor task": "SC245", "the keys that may log in": "SC244", "a boot script": "SC247", "a preloaded library": "SC247",
    "code that Python runs at every start": "SC247", "the account table": "SC247", "the host table": "SC247",
}  # fmt: skip
_WRITERS = frozenset(("tee", "cp", "mv", "install", "ln", "ditto", "rsync"))
_EDITORS = frozenset(("sed", "perl", "ed", "awk", "python"))
_FETCHES = re.compile(
    r"\b(?:curl|wget)\b[^\n]{0,200}(?:\||&&|;|>)|base64 (?:-d|--decode|-D)|/dev/tcp/|\bnc(?:at)? -|\bnohup\b|/tmp/\."
    r"|python3? -c"
)
_GIT_HOOKS = frozenset(("core.hookspath", "core.fsmonitor", "core.sshcommand", "init.templatedir"))
_COPY = re.compile(r"(?i)\.(?:bak|backup|orig|example|template)\b")
_AGENTS = frozenset(("openclaw", "clawdbot", "moltbot", "claude", "codex", "gemini", "hermes"))


def check(script: Script, texts: Texts) -> Iterator[Hit]:
    """Give the hits of one script."""
    lasting: set[int] = set()
    writing = any(part == ">" or call.name in _WRITERS or call.name in _EDITORS for call, _, part in texts.words)
    for one in named("persistence", texts) if writing else ():
        if not _writes(one):
            continue
        rule = _RULES.get(one.what)
        if rule:
            lasting.add(one.call.place)
            yield Hit(rule, one.call.command.start, one.call.command.end, one.what)
    for one in named("memory", texts) if writing else ():
        if _writes(one) and one.what not in ("the agent's skills", "the agent's workspace") and not _COPY.search(one.word.text):
            yield Hit("SC246", one.call.command.start, one.call.command.end, one.what)
    for call in script.calls:
        rule = _call_rule(script, call)
        if rule:
            if rule != "SC245":
                lasting.add(call.place)
            yield Hit(rule, call.command.start, call.command.end)
    yield from _loaded(script, lasting)


def _writes(one: Named) -> bool:
    """Say whether the command writes to the place, and does not just name it."""
    call, word, part, _ = one
    if part == ">":
        return True
    if part != "word" or not call.words:
        return False
    if call.name == "tee":
        return True
    if call.name in _WRITERS:
        return word.end == call.words[-1].end
    return call.name in _EDITORS and any(arg[:2] in ("-i", "-p") or arg.startswith("--in-place") for arg in call.args)


def _call_rule(script: Script, call: Call) -> str:
    if _times(script, call):
        return "SC240"
    first = call.args[0] if call.args else ""
    starts = (call.name == "launchctl" and first in ("load", "bootstrap", "submit", "enable")) or (
        call.name == "systemctl" and call.has("enable")
    )
    if starts or call.name in ("update-rc.d", "chkconfig", "rc-update"):
        return "SC241"
    return "SC245" if call.name == "git" and first == "config" and any(arg.lower() in _GIT_HOOKS for arg in call.args) else ""


def _times(script: Script, call: Call) -> bool:
    """Say whether the call sets up a timed job."""
    if call.name == "crontab":
        return bool(call.command.redirects) or not call.has("-l", "-r")
    if call.name in ("at", "batch"):
        return bool(call.args) and bool(script.before(call) or call.command.redirects)
    if call.name == "schtasks":
        return any(arg.lower() == "/create" for arg in call.args)
    return call.name in _AGENTS and call.args[:2] in (("cron", "add"), ("cron", "create"))


def _loaded(script: Script, lasting: set[int]) -> Iterator[Hit]:
    """Give a hit for each lasting place that is made to fetch or hide what it runs."""
    for index in lasting:
        call = script.calls[index]
        feeding = [call, *script.before(call)]
        inner = [one for feeder in feeding for one in script.inside(feeder, "written", "<<")]
        bodies = [redirect.body for one in feeding for redirect in one.command.redirects if redirect.body]
        bodies += [arg for one in feeding if one.name in ("echo", "printf", "cat", "crontab") for arg in one.args]
        if any(one.name in FETCHERS or shelltext.decodes(one.name, one.args) for one in inner) or any(
            _FETCHES.search(body[:20000]) for body in bodies
        ):
            yield Hit("SC243", min(one.command.start for one in feeding), call.command.end)
