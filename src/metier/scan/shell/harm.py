"""Rights that are taken, things that are destroyed, protections that are switched off."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.scan.rule import Hit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.scan.shell.calls import Call, Script

_ROOTS = re.compile(
    r"^(?:/|/\*|~/?\*?|~/\.\*?|\$HOME/?\*?|\$\{HOME\}/?\*?|/home/[^/]{1,80}/?|/Users/[^/]{1,80}/?|[A-Za-z]:\\?\*?"
    r"|/(?:home|etc|usr|var|boot|root|bin|lib|opt|Users|System|Library|srv)(?:/\*?)?"
    r"|(?:~|\$HOME)/(?:Documents|Desktop|Pictures|Library|Downloads)/?\*?)$"
)
_HOME = re.compile(r"^(?:/|~/?|\$HOME/?|/home/?\S{0,40}|/Users/?\S{0,40}|/etc/?|/var/?|~/(?:Documents|Desktop|Pictures)\S{0,80})$")
_DISK = re.compile(r"^(?:of=)?/dev/(?:r?disk|sd|nvme|hd|vd|xvd|mmcblk)\w{0,12}$")
_SYSTEM = re.compile(r"^/(?:$|\*|etc|usr|bin|sbin|lib|var(?!/www|/tmp|/folders|/lib/docker/vol)|root|boot|opt$|home$|dev(?!/shm))")
_OPEN = re.compile(r"^(?:0?777|a\+rwx|ugo\+rwx|o\+w|a\+w|0?666|\+rwx)$")
_SETUID = re.compile(r"^(?:[ugoa]{0,3}\+[rwx]{0,3}s|[2467][0-7]{3})$")
_GUARDS = re.compile(
    r"(?i)falcon|crowdstrike|clamav|clamd|freshclam|defender|mdatp|osquery|sentinel|auditd|apparmor|firewalld|\bufw\b"
    r"|sophos|\beset\b|symantec|carbonblack|cbagent|wazuh|ossec|littlesnitch|little snitch|knockknock|lulu|santad"
    r"|xprotect|selinux|mcafee|malwarebytes|avast|norton|kaspersky|fail2ban"
)
_BOMB = re.compile(r"([\w:.]{1,20})[ \t]*\([ \t]*\)[ \t]*\{[ \t\n]*\1[ \t]*\|[ \t]*\1[ \t]*&[ \t\n]*;?[ \t\n]*\}[ \t]*;?[ \t\n]*\1")
_LOGS = re.compile(r"^(?:/var/log(?:/|$)|.{0,80}_history$|/var/run/utmp|.{0,40}/\.lesshst)")
_SKIPS = frozenset((
    "--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--full-auto",
    "--trust-all-tools", "--allow-all-tools", "--dangerously-allow-all", "bypassPermissions", "--auto-approve-everything",
    "--permission-mode=bypassPermissions",
))  # fmt: skip
_AGENTS = frozenset((
    "claude", "codex", "gemini", "copilot", "cursor-agent", "q", "aider", "opencode", "qwen", "amp", "droid", "kiro-cli",
))  # fmt: skip
_STAMP = re.compile(r"^(?:\d{8,14}|\d{4}-\d\d-\d\d.{0,12})$")
_UNCHECKED = {
    "NODE_TLS_REJECT_UNAUTHORIZED": "0", "PYTHONHTTPSVERIFY": "0", "GIT_SSL_NO_VERIFY": "", "NPM_CONFIG_STRICT_SSL": "false",
}  # fmt: skip
_SILENT = {"HISTFILE": ("/dev/null", ""), "HISTSIZE": ("0",), "HISTFILESIZE": ("0",), "SAVEHIST": ("0",)}


def check(script: Script) -> Iterator[Hit]:
    """Give the hits of one script."""
    if "{" in script.text and "|" in script.text and "&" in script.text:
        yield from (Hit("SC262", match.start(), match.end()) for match in _BOMB.finditer(script.text))
    for call in script.calls:
        judge = _JUDGES.get(call.name) or (_mkfs if call.name.startswith("mkfs") else None)
        rules = judge(call) if judge else []
        if call.command.assigns or call.name in ("export", "declare"):
            rules += _assigned(call)
        if call.command.redirects or call.name in ("tee", "truncate", "cp", "sed"):
            rules += _written(call)
        if call.name in _AGENTS and any(arg in _SKIPS for arg in call.args):
            rules.append("SC275")
        if call.name in ("[", "[[", "test") and _dated(script, call):
            rules.append("SC276")
        for rule in dict.fromkeys(rules):
            yield Hit(rule, call.command.start, call.command.end)
    yield from _locks(script)


def _rm(call: Call) -> list[str]:
    deep = call.flagged("r") or call.flagged("R") or call.has("--recursive")
    targets = [arg for arg in call.args if arg[:1] != "-"]
    rules = ["SC264"] if any(_LOGS.match(arg) and not arg.endswith("/*.gz") for arg in targets) else []
    if call.has("--no-preserve-root") or (deep and any(_ROOTS.match(arg) for arg in targets)):
        return [*rules, "SC260"]
    return [*rules, "SC266"] if deep and any(arg in ("*", ".", "./*", "./", ".*") for arg in targets) else rules


def _dd(call: Call) -> list[str]:
    return ["SC261"] if any(_DISK.match(arg) and arg[:3] == "of=" for arg in call.args) else []


def _mkfs(call: Call) -> list[str]:
    return ["SC261"] if any(arg.startswith("/dev/") for arg in call.args) else []


def _shred(call: Call) -> list[str]:
    if any(_LOGS.match(arg) for arg in call.args):
        return ["SC264"]
    return ["SC261"] if any(_DISK.match(arg) or _HOME.match(arg) for arg in call.args) or call.name == "wipefs" else []


def _diskutil(call: Call) -> list[str]:
    return ["SC261"] if call.args[:1] and call.args[0].lower() in ("erasedisk", "erasevolume", "zerodisk", "secureerase") else []


def _find(call: Call) -> list[str]:
    ends = call.has("-delete") or (call.has("-exec", "-execdir") and call.has("rm", "shred", "unlink"))
    narrow = call.has("-mtime", "-empty", "-mmin", "-maxdepth")
    wide = bool(call.args) and bool(_HOME.match(call.args[0]))
    return ["SC265"] if ends and wide and not narrow else []


def _chmod(call: Call) -> list[str]:
    plain = [arg for arg in call.args if arg[:1] != "-"]
    if not plain:
        return []
    if _SETUID.match(plain[0]):
        return ["SC251"]
    if _OPEN.match(plain[0]):
        return ["SC255"] if any(_SYSTEM.match(arg) for arg in plain[1:]) else ["SC252"]
    return []


def _setcap(call: Call) -> list[str]:
    return ["SC251"] if any("setuid" in arg or "sys_admin" in arg or "dac_override" in arg for arg in call.args) else []


def _account(call: Call) -> list[str]:
    return (
        ["SC253"]
        if call.args and (call.name not in ("net", "dscl") or call.has("user", "-create", "/add")) and not call.has("--help")
        else []
    )


def _container(call: Call) -> list[str]:
    if not call.has("run", "create", "exec"):
        return []
    mounts = [word.text for word in call.option("-v", "--volume", "--mount")]
    whole = any(
        re.match(r"(?:/:|type=bind,(?:source|src)=/,|/etc:|/root:|~/\.ssh|\$HOME/\.ssh|\$HOME:|~:|/var/run/docker\.sock)", mount)
        for mount in mounts
    )
    return (
        ["SC254"]
        if whole or call.has("--privileged", "--pid=host", "--privileged=true", "--cap-add=ALL", "--cap-add=SYS_ADMIN")
        else []
    )


def _nsenter(call: Call) -> list[str]:
    return ["SC254"] if call.has("-t", "--target", "1") or call.flagged("t") else []


def _echo(call: Call) -> list[str]:
    text = " ".join(call.args)[:4000]
    return ["SC250"] if "NOPASSWD" in text else []


def _git(call: Call) -> list[str]:
    rules: list[str] = []
    if (
        (call.has("push") and call.has("--force", "-f", "--mirror"))
        or (call.has("reset") and call.has("--hard"))
        or (call.has("clean") and call.flagged("f"))
        or call.has("filter-branch")
    ):
        rules.append("SC263")
    if call.has("--no-verify", "commit.gpgsign=false"):
        rules.append("SC274")
    if any(arg.lower() in ("http.sslverify=false", "http.sslverify") for arg in call.args) and any(
        arg.lower().endswith("false") for arg in call.args
    ):
        rules.append("SC273")
    return rules


def _insecure(call: Call) -> list[str]:
    letter = call.name == "curl" and any(re.fullmatch(r"-[a-zA-Z]{0,6}k[a-zA-Z]{0,6}", arg) for arg in call.args)
    return ["SC273"] if letter or call.has("--insecure", "--no-check-certificate", "--verify=no", "-SkipCertificateCheck") else []


def _ssh(call: Call) -> list[str]:
    return ["SC273"] if any(arg.lower().endswith("stricthostkeychecking=no") for arg in call.args) else []


def _history(call: Call) -> list[str]:
    return ["SC264"] if call.flagged("c") or call.flagged("w") else []


def _set(call: Call) -> list[str]:
    return ["SC272"] if call.args[:2] == ("+o", "history") or call.args[:1] == ("HISTFILE",) else []


def _guard(call: Call) -> list[str]:
    args = call.args
    table = {
        "setenforce": ("0", "Permissive"), "csrutil": ("disable", "authenticated-root"),
        "spctl": ("--master-disable", "--global-disable"), "ufw": ("disable", "reset"),
        "iptables": ("-F", "--flush"), "ip6tables": ("-F",), "nft": ("flush",), "auditctl": ("-D",), "aa-disable": args,
        "aa-teardown": args, "pfctl": ("-d",),
        "set-mppreference": args, "tccutil": ("reset",), "netsh": ("off",), "fdesetup": ("disable",),
        "mokutil": ("--disable-validation",),
    }  # fmt: skip
    if call.name in table:
        return ["SC270"] if not args and not table[call.name] else ["SC270"] if any(arg in table[call.name] for arg in args) else []
    stops = call.name in ("kill", "pkill", "killall") or call.has("stop", "disable", "mask", "unload", "remove", "purge", "bootout")
    return ["SC270"] if stops and any(_GUARDS.search(arg[:200]) for arg in args) else []


def _defaults(call: Call) -> list[str]:
    return ["SC270"] if call.has("LSQuarantine", "com.apple.security") or any("LSQuarantine" in arg for arg in call.args) else []


def _xattr(call: Call) -> list[str]:
    strips = call.flagged("c") or (call.flagged("d") and any("quarantine" in arg for arg in call.args))
    return ["SC271"] if strips else []


def _npm(call: Call) -> list[str]:
    return ["SC273"] if call.has("strict-ssl") and call.has("false") else []


def _vm(_call: Call) -> list[str]:
    return ["SC276"]


_JUDGES: dict[str, Callable[[Call], list[str]]] = {
    "rm": _rm, "dd": _dd, "shred": _shred, "wipefs": _shred, "srm": _shred, "diskutil": _diskutil, "find": _find,
    "chmod": _chmod, "setcap": _setcap, "useradd": _account,
    "usermod": _account, "adduser": _account, "chpasswd": _account, "net": _account, "dscl": _account, "docker": _container,
    "podman": _container,
    "nerdctl": _container, "nsenter": _nsenter, "visudo": lambda _: ["SC250"], "echo": _echo, "printf": _echo, "git": _git,
    "curl": _insecure, "wget": _insecure,
    "http": _insecure, "https": _insecure, "ssh": _ssh, "scp": _ssh, "sshpass": _ssh, "history": _history, "set": _set,
    "unset": _set, "setenforce": _guard, "csrutil": _guard,
    "spctl": _guard, "ufw": _guard, "iptables": _guard, "ip6tables": _guard, "nft": _guard, "auditctl": _guard,
    "pfctl": _guard, "aa-disable": _guard,
    "aa-teardown": _guard, "set-mppreference": _guard, "tccutil": _guard, "netsh": _guard, "systemctl": _guard,
    "service": _guard, "launchctl": _guard, "kill": _guard,
    "pkill": _guard, "killall": _guard, "apt": _guard, "apt-get": _guard, "defaults": _defaults, "xattr": _xattr,
    "npm": _npm, "yarn": _npm,
    "systemd-detect-virt": _vm, "dmidecode": _vm, "fdesetup": _guard, "mokutil": _guard,
}  # fmt: skip


def _assigned(call: Call) -> list[str]:
    rules: list[str] = []
    pairs = [(name, word.text) for name, word in call.command.assigns]
    if call.name in ("export", "declare"):
        pairs += [(arg.partition("=")[0], arg.partition("=")[2]) for arg in call.args if "=" in arg]
    for name, value in pairs:
        if name in _UNCHECKED and (value == _UNCHECKED[name] or not _UNCHECKED[name]):
            rules.append("SC273")
        elif name in _SILENT and value in _SILENT[name]:
            rules.append("SC272")
        elif name == "HUSKY" and value == "0":
            rules.append("SC274")
    return rules


def _written(call: Call) -> list[str]:
    rules: list[str] = []
    targets = [one.target.text for one in call.command.redirects if ">" in one.op]
    if call.name in ("tee", "truncate", "cp", "sed"):
        targets += call.args[-1:]
    for target in targets:
        if target.startswith("/etc/sudoers"):
            rules.append("SC250")
        elif _DISK.match(target) and call.name not in ("tee", "cp", "sed"):
            rules.append("SC261")
        elif _LOGS.match(target) and (
            call.name in ("truncate", "", ":", "true") or (call.name in ("cat", "cp") and call.args[:1] == ("/dev/null",))
        ):
            rules.append("SC264")
    return rules


def _dated(script: Script, call: Call) -> bool:
    """Say whether a test compares today with a day that is written down."""
    return any(one.name == "date" for one in script.inside(call, "$(", "`")) and any(_STAMP.match(arg) for arg in call.args)


def _locks(script: Script) -> Iterator[Hit]:
    """Encrypting a file and deleting the original, over and over, is what ransomware does."""
    gone = {arg for call in script.calls if call.name in ("rm", "shred", "unlink") for arg in call.args if arg[:1] == "$"}
    for call in script.calls:
        locks = call.has("enc") and not call.has("-d") if call.name == "openssl" else call.name == "gpg" and call.flagged("c")
        if locks and gone & set(call.args):
            yield Hit("SC265", call.command.start, call.command.end)
