"""Shells that are handed to the network, and doors that are opened for it: reverse shells, bind shells, tunnels, scans, miners."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.scan.rule import Hit
from metier.scan.shell.calls import SHELLS, Call, Script
from metier.scan.shellwords import program

if TYPE_CHECKING:
    from collections.abc import Iterator

NETCATS = frozenset(("nc", "ncat", "netcat", "nc.traditional", "nc.openbsd"))
_FIFOS = frozenset(("mkfifo", "mknod"))
_OBEYS = SHELLS | frozenset(("eval", "read", "$line", "$cmd"))
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/")
_SHELL_PATH = re.compile(r"(?:^|[\s,:'\"=/])(?:ba|z|da|k|c)?sh(?:$|[\s,:'\"])|cmd\.exe|powershell", re.IGNORECASE)
_SOCKET = re.compile(r"(?i)socket|fsockopen|net\.connect|createconnection|tcpsocket|/inet/tcp")
_SPAWNS = re.compile(
    r"(?i)dup2|/bin/(?:ba|z|da)?sh|\bpty\.spawn|cmd\.exe|child_process|subprocess|exec\s?[\s(]|open\(STDIN|getline"
)
_MINERS = frozenset((
    "xmrig", "minerd", "cpuminer", "ethminer", "nbminer", "cgminer", "bfgminer", "t-rex", "lolminer", "xmr-stak",
    "phoenixminer", "nheqminer", "xmrig-notls",
))  # fmt: skip
_POOL = re.compile(r"(?i)stratum\+(?:tcp|ssl|tls)://|--donate-level\b|(?:--coin[= ]|-a |--algo[= ])(?:monero|randomx|rx/0|cn/)")
_SCANNERS = frozenset((
    "nmap", "masscan", "zmap", "arp-scan", "netdiscover", "hydra", "medusa", "sqlmap", "nikto", "gobuster", "ffuf",
    "responder", "crackmapexec", "netexec", "msfconsole", "msfvenom",
))  # fmt: skip
_TUNNELS = frozenset((
    "ngrok", "cloudflared", "chisel", "frpc", "bore", "lt", "localtunnel", "playit", "zrok", "pagekite", "gost", "tunnelto",
))  # fmt: skip
_TUNNEL_WORDS = frozenset(("http", "https", "tcp", "tunnel", "client", "server", "share", "local", "start", "--port", "-c", "run"))


def check(script: Script) -> Iterator[Hit]:
    """Give the hits of one script."""
    names = frozenset(call.name for call in script.calls)
    for call in script.calls:
        rule = _shell(script, call, names)
        if rule:
            yield Hit(rule, call.command.start, call.command.end)
        if call.name in _MINERS or any(_POOL.search(arg[:4096]) for arg in call.args[:60]):
            yield Hit("SC280", call.command.start, call.command.end)
        if call.name in _SCANNERS:
            yield Hit("SC295", call.command.start, call.command.end)
        if opens(call):
            yield Hit("SC294", call.command.start, call.command.end)


def opens(call: Call) -> bool:
    """Say whether the call lets others reach this machine."""
    if call.name in _TUNNELS:
        return any(arg in _TUNNEL_WORDS for arg in call.args[:6])
    if call.name in ("ssh", "autossh"):
        return any(arg[:2] == "-R" or (arg[:1] == "-" and arg[1:2] != "-" and arg.endswith("R")) for arg in call.args)
    if call.name == "tailscale":
        return call.args[:1] == ("funnel",)
    return call.name in NETCATS and call.flagged("l") and not call.has("-zv", "localhost")


def _shell(script: Script, call: Call, names: frozenset[str]) -> str:
    """Return the rule for a shell that is joined to a connection, or an empty text."""
    if call.name in NETCATS:
        return _netcat(script, call, names)
    if call.name == "socat":
        joined = " ".join(call.args).lower()
        if ("exec:" in joined or "system:" in joined) and _SHELL_PATH.search(joined):
            return "SC211" if "listen" in joined else "SC210"
        return ""
    if call.name in SHELLS or call.name in ("exec", "") or "exec" in call.wraps:
        return _device(call, names)
    if call.name in ("python", "pypy", "perl", "ruby", "php", "lua", "node", "nodejs", "awk", "gawk", "tclsh", "osascript"):
        code = " ".join((*call.args, *[one.body for one in call.command.redirects]))[:65536]
        if _SOCKET.search(code) and _SPAWNS.search(code) and _SHELL_PATH.search(code):
            return "SC211" if re.search(r"\.listen\(|\bbind\(", code) else "SC210"
    if call.name in ("openssl", "telnet") and (call.name == "telnet" or call.has("s_client")):
        return "SC210" if _neighbours(script, call) else ""
    return ""


def _netcat(script: Script, call: Call, names: frozenset[str]) -> str:
    given = [program(arg) in SHELLS or program(arg.split(" ")[0]) in SHELLS or "cmd.exe" in arg.lower() for arg in call.args]
    runs = any(given) and (
        call.flagged("e")
        or call.flagged("c")
        or call.has("--exec", "--sh-exec")
        or any(a.startswith(("--exec=", "--sh-exec=")) for a in call.args)
    )
    if runs or _neighbours(script, call) or (names & _FIFOS and names & SHELLS):
        return "SC211" if call.flagged("l") or call.has("--listen") else "SC210"
    return ""


def _neighbours(script: Script, call: Call) -> bool:
    """Say whether a shell without a program of its own stands before or behind the connection."""
    line = script.pipelines[call.command.pipeline]
    return any(one.name in SHELLS and not one.plain() and not one.flagged("c") for one in line)


def _device(call: Call, names: frozenset[str]) -> str:
    """Bash opens /dev/tcp/host/port itself. A probe of a port does too, but it does not tie its input and output to it."""
    targets = [one for one in call.command.redirects if _DEVICE.search(one.target.text)]
    if not targets and not any(_DEVICE.search(arg) for arg in call.args):
        return ""
    both = any(one.op in ("<>", ">&") for one in targets)
    interactive = call.name in SHELLS and call.flagged("i")
    tied = any(one.op in (">&", "<&", "<") and one.target.text in ("0", "1", "2", "&1", "&0") for one in call.command.redirects)
    if interactive or (both and tied):
        return "SC210"
    if both and call.name in ("exec", "") and names & _OBEYS:
        return "SC210"
    return ""
