"""Finds shell commands that outlive the task or do damage.

What outlives a task are timed jobs, services, profiles, hooks, keys, and changes to the agent's own
instructions. Damage is rights taken, things destroyed, and protections switched off.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.scan.languages.shell import read
from metier.scan.languages.shell.commands import (
    FETCHERS,
    ShellCall,
    ShellScript,
    named_places,
)
from metier.scan.model import RuleHit, word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.scan.languages.shell.commands import NamedPlace, ScriptWords


_RULES = {
    "a shell profile": "SC242",
    "a system shell profile": "SC242",
    "the cron table": "SC240",
    "a system service": "SC241",
    "a user service": "SC241",
    "a launch agent": "SC241",
    "a launch daemon": "SC241",
    "a login item": "SC241",
    "a git hook": "SC245",
    "an editor task": "SC245",
    "the keys that may log in": "SC244",
    "a boot script": "SC247",
    "a preloaded library": "SC247",
    "code that Python runs at every start": "SC247",
    "the account table": "SC247",
    "the host table": "SC249",
}
_WRITERS = word_set("tee cp mv install ln ditto rsync")
_EDITORS = word_set("sed perl ed awk python")
_FETCHES = re.compile(
    r"\b(?:curl|wget)\b[^\n]{0,200}(?:\||&&|;|>)|base64 (?:-d|--decode|-D)|/dev/tcp/|\bnc(?:at)? -|\bnohup\b|/tmp/\."
    r"|python3? -c"
)
_GIT_HOOKS = word_set("core.hookspath core.fsmonitor core.sshcommand init.templatedir")
_COPY = re.compile(r"(?i)\.(?:bak|backup|orig|example|template)\b")
_SCHEDULING_AGENTS = word_set("openclaw clawdbot moltbot claude codex gemini hermes")


def check_persistence(script: ShellScript, texts: ScriptWords) -> Iterator[RuleHit]:
    """Give the hits of one script."""
    lasting = set()
    writing = any(
        part == ">" or call.name in _WRITERS or call.name in _EDITORS
        for call, _, part in texts.words
    )
    for one in named_places("persistence", texts) if writing else ():
        rule = _RULES.get(one.what)
        if rule and _writes(one):
            lasting.add(one.call.place)
            if rule == "SC244" and not _brings_key(script, one.call):
                rule = "SC248"
            yield one.call.hit(rule, one.what)
    for one in named_places("memory", texts) if writing else ():
        if (
            _writes(one)
            and one.what not in ("the agent's skills", "the agent's workspace")
            and not _COPY.search(one.word.text)
        ):
            yield one.call.hit("SC246", one.what)
    yield from _other_skills(script, texts)
    for call in script.calls:
        rule = _persistence_rule(script, call)
        if rule:
            if rule != "SC245":
                lasting.add(call.place)
            yield call.hit(rule)
    yield from _loaded(script, lasting)


_PUBLIC_KEY = re.compile(
    r"\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w{1,20})[ \t]+AAAA[A-Za-z0-9+/]{4}"
)


_SKILL_FILES = re.compile(r"(?i)skills/\*/?(?:\*|SKILL\.md)|skills\S{0,40}\*/SKILL\.md")


def _other_skills(script: ShellScript, texts: ScriptWords) -> Iterator[RuleHit]:
    """Report that all skills of the agent are written to."""
    if "skills" not in texts.text.lower():
        return
    loops = {
        "$" + call.args[0]
        for call in script.calls
        if call.name == "for" and any(_SKILL_FILES.search(arg) for arg in call.args[2:])
    }
    for call, word, part in texts.words:
        named = _SKILL_FILES.search(word.text) or word.text in loops
        edits = call.name == "sed" and any(arg.startswith("-i") for arg in call.args)
        if named and (part == ">" or edits or (call.name == "tee" and call.has("-a"))):
            yield call.hit("SC278")
            return


def _brings_key(script: ShellScript, call: ShellCall) -> bool:
    """Say whether the key that may log in stands in the skill, or is fetched from somewhere."""
    feeding = [call, *script.before(call)]
    texts = [redirect.body for one in feeding for redirect in one.redirects]
    texts += [arg for one in feeding for arg in one.args]
    return any(_PUBLIC_KEY.search(text[:20000]) for text in texts) or any(
        one.name in FETCHERS for one in feeding
    )


def _writes(one: NamedPlace) -> bool:
    """Say whether the command writes to the place, and does not just name it."""
    call, word, part, _ = one
    if part != "word" or not call.words:
        return part == ">"
    if call.name in _WRITERS:
        return call.name == "tee" or word.end == call.words[-1].end
    return call.name in _EDITORS and any(
        arg.startswith(("-i", "-p", "--in-place")) for arg in call.args
    )


def _persistence_rule(script: ShellScript, call: ShellCall) -> str:
    if _times(script, call):
        return "SC240"
    first = call.args[0] if call.args else ""
    if (
        call.name in ("update-rc.d", "chkconfig", "rc-update")
        or (call.name == "launchctl" and first in ("load", "bootstrap", "submit", "enable"))
        or (call.name == "systemctl" and call.has("enable"))
    ):
        return "SC241"
    hooks = call.name == "git" and first == "config"
    return "SC245" if hooks and any(arg.lower() in _GIT_HOOKS for arg in call.args) else ""


def _times(script: ShellScript, call: ShellCall) -> bool:
    """Say whether the call sets up a timed job."""
    if call.name == "crontab":
        return bool(call.redirects) or not call.has("-l", "-r")
    if call.name in ("at", "batch"):
        return bool(call.args) and bool(script.before(call) or call.redirects)
    if call.name == "schtasks":
        return any(arg.lower() == "/create" for arg in call.args)
    return call.name in _SCHEDULING_AGENTS and " ".join(call.args[:2]) in (
        "cron add",
        "cron create",
    )


def _loaded(script: ShellScript, lasting: set[int]) -> Iterator[RuleHit]:
    """Give a hit for each lasting place that is made to fetch or hide what it runs."""
    for index in lasting:
        call = script.calls[index]
        feeding = [call, *script.before(call)]
        bodies = [redirect.body for one in feeding for redirect in one.redirects]
        bodies += [
            arg
            for one in feeding
            if one.name in ("echo", "printf", "cat", "crontab")
            for arg in one.args
        ]
        if any(_FETCHES.search(body[:20000]) for body in bodies) or any(
            inner.name in FETCHERS or read.decodes(inner.name, inner.args)
            for one in feeding
            for inner in script.inside(one, "written", "<<")
        ):
            yield RuleHit("SC243", min(one.start for one in feeding), call.end)


# --- damage

_ROOTS = re.compile(
    r"^(?:/|/\*|~/?\*?|~/\.\*?|\$HOME/?\*?|\$\{HOME\}/?\*?|/home/[^/]{1,80}/?|/Users/[^/]{1,80}/?|[A-Za-z]:\\?\*?"
    r"|/(?:home|etc|usr|var|boot|root|bin|lib|opt|Users|System|Library|srv)(?:/\*?)?"
    r"|(?:~|\$HOME)/(?:Documents|Desktop|Pictures|Library|Downloads)/?\*?)$"
)
_HOME = re.compile(
    r"^(?:/|~/?|\$HOME/?|/home/?\S{0,40}|/Users/?\S{0,40}|/etc/?|/var/?|~/(?:Documents|Desktop|Pictures)\S{0,80})$"
)
_DISK = re.compile(r"^(?:of=)?/dev/(?:r?disk|sd|nvme|hd|vd|xvd|mmcblk)\w{0,12}$")
_SYSTEM = re.compile(
    r"^/(?:$|\*|etc|usr|bin|sbin|lib|var(?!/www|/tmp|/folders|/lib/docker/vol)|root|boot|opt$|home$|dev(?!/shm))"
)
_OPEN = re.compile(r"^(?:0?777|a\+rwx|ugo\+rwx|o\+w|a\+w|0?666|\+rwx)$")
_SETUID = re.compile(r"^(?:[ugoa]{0,3}\+[rwx]{0,3}s|[2467][0-7]{3})$")
_GUARDS = re.compile(
    r"(?i)falcon|crowdstrike|clamav|clamd|freshclam|defender|mdatp|osquery|sentinel|auditd|apparmor|firewalld|\bufw\b"
    r"|sophos|\beset\b|symantec|carbonblack|cbagent|wazuh|ossec|littlesnitch|little snitch|knockknock|lulu|santad"
    r"|xprotect|selinux|mcafee|malwarebytes|avast|norton|kaspersky|fail2ban"
)
_BOMB = re.compile(
    r"([\w:.]{1,20})[ \t]*\([ \t]*\)[ \t]*\{[ \t\n]*\1[ \t]*\|[ \t]*\1[ \t]*&[ \t\n]*;?[ \t\n]*\}[ \t]*;?[ \t\n]*\1"
)
_LOGS = re.compile(
    r"^(?:/var/log/?\*?$|/var/log/(?:auth|syslog|secure|wtmp|btmp|lastlog|audit|messages|kern|journal)"
    r"|.{0,80}_history$|/var/run/utmp|.{0,40}/\.lesshst)"
)
_SKIPS = word_set(
    "--dangerously-skip-permissions --dangerously-bypass-approvals-and-sandbox --yolo "
    "--full-auto --trust-all-tools --allow-all-tools --dangerously-allow-all "
    "bypassPermissions --auto-approve-everything --permission-mode=bypassPermissions"
)
_CODING_AGENTS = word_set(
    "claude codex gemini copilot cursor-agent q aider opencode qwen amp droid kiro-cli"
)
_STAMP = re.compile(r"^(?:\d{8,14}|\d{4}-\d\d-\d\d.{0,12})$")
_INSECURE = re.compile(r"-[a-zA-Z]{0,6}k[a-zA-Z]{0,6}")
_MOUNTS = re.compile(
    r"(?:/:|type=bind,(?:source|src)=/,|/etc:|/root:|~/\.ssh|\$HOME/\.ssh|\$HOME:|~:|/var/run/docker\.sock)"
)
_WHOLE_DISK = re.compile(r"^/:/\S{0,80}(?<!:ro)$|^type=bind,(?:source|src)=/,(?!.*readonly)")
_BACKUPS = re.compile(
    r"(?i)^/var/backups?(?:/\*?|\*)?$|^/(?:mnt|media|volumes|srv)/\S{0,80}backups?\S{0,40}\*$|\S{0,80}\.backupdb"
)
_FIRST_DISK = re.compile(r"^(?:of=)?/dev/(?:sda|hda|vda|xvda|nvme0n1|disk0|mmcblk0)$")
_NOISE = ("if=/dev/zero", "if=/dev/urandom", "if=/dev/random")
_POWERS = re.compile(r"setuid|sys_admin|dac_override")
_ERASERS = word_set("erasedisk erasevolume zerodisk secureerase")
_FILE_WRITERS = word_set("tee truncate cp sed")
_OFF_SWITCHES = {
    "setenforce": "0 Permissive",
    "csrutil": "disable authenticated-root",
    "spctl": "--master-disable --global-disable",
    "ufw": "disable reset",
    "iptables": "-F --flush",
    "ip6tables": "-F",
    "nft": "flush",
    "auditctl": "-D",
    "pfctl": "-d",
    "tccutil": "reset",
    "netsh": "off",
    "fdesetup": "disable",
    "mokutil": "--disable-validation",
}
"""Guards of the machine, each with the words that switch it off."""
_UNCHECKED = {
    "NODE_TLS_REJECT_UNAUTHORIZED": ("0",),
    "PYTHONHTTPSVERIFY": ("0",),
    "NPM_CONFIG_STRICT_SSL": ("false",),
}
"""Settings that end the check of certificates; one of Git's does whatever it is set to."""
_SILENT = {
    "HISTFILE": ("/dev/null", ""),
    "HISTSIZE": ("0",),
    "HISTFILESIZE": ("0",),
    "SAVEHIST": ("0",),
}


def check_harm(script: ShellScript) -> Iterator[RuleHit]:
    """Give the hits of one script."""
    if "{" in script.text and "|" in script.text and "&" in script.text:
        yield from (RuleHit("SC262", *match.span()) for match in _BOMB.finditer(script.text))
    for call in script.calls:
        checks = _CHECKS.get("mkfs" if call.name.startswith("mkfs") else call.name, ())
        rules = {rule for rule, harms in checks if harms(call)}
        if call.command.assigns or call.name in ("export", "declare"):
            rules.update(_assigned(call))
        if call.redirects or call.name in _FILE_WRITERS:
            rules.update(_written(call))
        if call.name in _CODING_AGENTS and any(arg in _SKIPS for arg in call.args):
            rules.add("SC275")
        # a test that compares today with a day that is written down
        if (
            call.name in ("[", "[[", "test")
            and call.matches(_STAMP)
            and any(one.name == "date" for one in script.inside(call, "$(", "`"))
        ):
            rules.add("SC276")
        for rule in rules:
            yield call.hit(rule)
    yield from _locks(script)


def _goes_deep(call: ShellCall) -> bool:
    return call.flagged("r", "R") or call.has("--recursive")


def _removes_roots(call: ShellCall) -> bool:
    if call.has("→", "=>", "->"):  # a table of what commands do
        return False
    return call.has("--no-preserve-root") or (_goes_deep(call) and call.matches(_ROOTS))


def _finds_to_delete(call: ShellCall) -> bool:
    deletes = call.has("-delete") or (
        call.has("-exec", "-execdir") and call.has("rm", "shred", "unlink")
    )
    narrow = call.has("-mtime", "-empty", "-mmin", "-maxdepth")
    return deletes and not narrow and bool(call.args) and bool(_HOME.match(call.args[0]))


def _mode(call: ShellCall) -> str:
    """Return the rule for the rights that `chmod` gives."""
    mode, *paths = [arg for arg in call.args if arg[:1] != "-"] or [""]
    if _SETUID.match(mode):
        return "SC251"
    if not _OPEN.match(mode):
        return ""
    return "SC255" if any(map(_SYSTEM.match, paths)) else "SC252"


def _frees_container(call: ShellCall) -> bool:
    return call.has("run", "create", "exec") and (
        call.has(
            "--privileged",
            "--pid=host",
            "--privileged=true",
            "--cap-add=ALL",
            "--cap-add=SYS_ADMIN",
        )
        or any(_MOUNTS.match(word.text) for word in call.option("-v", "--volume", "--mount"))
    )


def _gives_disk(call: ShellCall) -> bool:
    return call.has("run", "create") and any(
        _WHOLE_DISK.match(word.text) for word in call.option("-v", "--volume", "--mount")
    )


def _overwrites(call: ShellCall) -> bool:
    """Say whether `dd` or `shred` fills a disk with noise, or the machine's first disk with
    anything.
    """
    disk = any(_DISK.match(arg) and (arg[:3] == "of=" or call.name != "dd") for arg in call.args)
    return disk and (
        call.name != "dd" or call.has(*_NOISE) or any(map(_FIRST_DISK.match, call.args))
    )


def _formats(call: ShellCall) -> bool:
    """Say whether a disk is emptied in a way that people do use for disks of theirs."""
    if call.name == "dd":
        return not _overwrites(call) and any(
            arg[:3] == "of=" and bool(_DISK.match(arg)) for arg in call.args
        )
    if call.name == "diskutil":
        return "".join(call.args[:1]).lower() in _ERASERS
    return any(arg.startswith(("/dev/", "$")) for arg in call.args) and not call.matches(
        _FIRST_DISK
    )


def _loses_work(call: ShellCall) -> bool:
    return (
        (call.has("push") and call.has("--force", "-f", "--mirror"))
        or (call.has("reset") and call.has("--hard"))
        or (call.has("clean") and call.flagged("f"))
        or call.has("filter-branch")
    )


def _trusts_any_host(call: ShellCall) -> bool:
    low = [arg.lower() for arg in call.args]
    return any(arg in ("http.sslverify=false", "http.sslverify") for arg in low) and any(
        arg.endswith("false") for arg in low
    )


def _skips_certificate(call: ShellCall) -> bool:
    return call.has(
        "--insecure", "--no-check-certificate", "--verify=no", "-SkipCertificateCheck"
    ) or (call.name == "curl" and any(map(_INSECURE.fullmatch, call.args)))


def _stops_guard(call: ShellCall) -> bool:
    stops = call.name in ("kill", "pkill", "killall") or call.has(
        "stop", "disable", "mask", "unload", "remove", "purge", "bootout"
    )
    return stops and any(_GUARDS.search(arg[:200]) for arg in call.args)


_HARMS: tuple[tuple[str, str, Callable[[ShellCall], bool]], ...] = (
    ("SC260", "rm", _removes_roots),
    (
        "SC266",
        "rm",
        lambda call: (
            _goes_deep(call) and call.has("*", ".", "./*", "./", ".*") and not _removes_roots(call)
        ),
    ),
    (
        "SC264",
        "rm",
        lambda call: any(
            _LOGS.match(arg) and not arg.endswith("/*.gz") for arg in call.args if arg[:1] != "-"
        ),
    ),
    ("SC264", "shred wipefs srm", lambda call: call.matches(_LOGS)),
    (
        "SC261",
        "shred wipefs srm",
        lambda call: (
            not call.matches(_LOGS)
            and (
                call.matches(_FIRST_DISK)
                if call.name == "wipefs"
                else call.matches(_DISK) or call.matches(_HOME)
            )
        ),
    ),
    ("SC261", "dd", _overwrites),
    ("SC261", "mkfs", lambda call: call.matches(_FIRST_DISK)),
    ("SC267", "dd mkfs wipefs diskutil", _formats),
    ("SC265", "find", _finds_to_delete),
    (
        "SC265",
        "rm",
        lambda call: _goes_deep(call) and any(_BACKUPS.match(arg) for arg in call.args),
    ),
    ("SC265", "tmutil", lambda call: call.has("delete", "disable", "deletelocalsnapshots")),
    ("SC265", "vssadmin wbadmin", lambda call: call.has("delete")),
    ("SC251", "chmod", lambda call: _mode(call) == "SC251"),
    ("SC252", "chmod", lambda call: _mode(call) == "SC252"),
    ("SC255", "chmod", lambda call: _mode(call) == "SC255"),
    ("SC251", "setcap", lambda call: bool(_POWERS.search(" ".join(call.args)))),
    (
        "SC253",
        "useradd usermod adduser chpasswd",
        lambda call: bool(call.args) and not call.has("--help"),
    ),
    (
        "SC253",
        "net dscl",
        lambda call: call.has("user", "-create", "/add") and not call.has("--help"),
    ),
    ("SC254", "docker podman nerdctl", _frees_container),
    ("SC256", "docker podman nerdctl", _gives_disk),
    ("SC254", "nsenter", lambda call: call.has("-t", "--target", "1") or call.flagged("t")),
    ("SC250", "echo printf", lambda call: "NOPASSWD" in " ".join(call.args)[:4000]),
    ("SC263", "git", _loses_work),
    ("SC274", "git", lambda call: call.has("--no-verify", "commit.gpgsign=false")),
    ("SC273", "git", _trusts_any_host),
    ("SC273", "curl wget http https", _skips_certificate),
    (
        "SC273",
        "ssh scp sshpass",
        lambda call: any(arg.lower().endswith("stricthostkeychecking=no") for arg in call.args),
    ),
    ("SC273", "npm yarn", lambda call: call.has("strict-ssl") and call.has("false")),
    ("SC264", "history", lambda call: call.flagged("c", "w")),
    (
        "SC272",
        "set unset",
        lambda call: call.args[:2] == ("+o", "history") or call.args[:1] == ("HISTFILE",),
    ),
    ("SC270", " ".join(_OFF_SWITCHES), lambda call: call.has(*_OFF_SWITCHES[call.name].split())),
    ("SC270", "aa-disable aa-teardown set-mppreference", lambda _: True),
    (
        "SC270",
        "systemctl service launchctl kill pkill killall apt apt-get",
        _stops_guard,
    ),
    (
        "SC270",
        "defaults",
        lambda call: any(arg == "com.apple.security" or "LSQuarantine" in arg for arg in call.args),
    ),
    (
        "SC271",
        "xattr",
        lambda call: (
            call.flagged("c")
            or (call.flagged("d") and any("quarantine" in arg for arg in call.args))
        ),
    ),
    ("SC276", "systemd-detect-virt dmidecode", lambda _: True),
)
"""Each rule with the programs it is about, and what tells that one of them does harm."""
_CHECKS: dict[str, list[tuple[str, Callable[[ShellCall], bool]]]] = {}
for _rule, _programs, _harms in _HARMS:
    for _program in _programs.split():
        _CHECKS.setdefault(_program, []).append((_rule, _harms))


def _assigned(call: ShellCall) -> Iterator[str]:
    pairs = [(name, word.text) for name, word in call.command.assigns]
    if call.name in ("export", "declare"):
        pairs += [arg.partition("=")[::2] for arg in call.args if "=" in arg]
    for name, value in pairs:
        if value in _UNCHECKED.get(name, ()) or name == "GIT_SSL_NO_VERIFY":
            yield "SC273"
        elif value in _SILENT.get(name, ()):
            yield "SC272"
        elif name == "HUSKY" and value == "0":
            yield "SC274"


def _written(call: ShellCall) -> Iterator[str]:
    targets = [one.target.text for one in call.redirects if ">" in one.op]
    if call.name in _FILE_WRITERS:
        targets += call.args[-1:]
    empties = call.name in ("truncate", "", ":", "true") or (
        call.name in ("cat", "cp") and call.args[:1] == ("/dev/null",)
    )
    for target in targets:
        if target.startswith("/etc/sudoers"):
            yield "SC250"
        elif _DISK.match(target) and call.name not in ("tee", "cp", "sed"):
            yield "SC261"
        elif empties and _LOGS.match(target):
            yield "SC264"


def _locks(script: ShellScript) -> Iterator[RuleHit]:
    """Encrypting a file and deleting the original, over and over, is what ransomware does."""
    gone = {
        arg
        for call in script.calls
        if call.name in ("rm", "shred", "unlink")
        for arg in call.args
        if arg[:1] == "$"
    }
    for call in script.calls if gone else ():
        locks = (call.name == "openssl" and call.has("enc") and not call.has("-d")) or (
            call.name == "gpg" and call.flagged("c")
        )
        made = {word.text for word in call.option("-out", "-o", "--output")}
        if locks and not gone.isdisjoint(set(call.args) - made):
            yield call.hit("SC265")
