"""Finds shell commands that run code from elsewhere or open this machine to the network.

Such code is piped, substituted, downloaded, decoded or hidden. Doors are reverse shells, bind
shells, tunnels, scans and miners. An address tells something about whoever stands behind it: a
known installer, a bare number, a paste site, this very machine.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.scan.languages.shell import read
from metier.scan.languages.shell.commands import (
    FETCHERS,
    INTERPRETERS,
    NETWORK,
    PROGRAM_OPTIONS,
    SHELLS,
    ShellCall,
    ShellScript,
    given_program,
    host,
    program,
    urls,
)
from metier.scan.model import RuleHit, word_set
from metier.scan.rules import places
from metier.scan.rules.shell import CHEAP, INSTALLERS, SHORTENERS

if TYPE_CHECKING:
    from collections.abc import Iterator


_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}$|0x[0-9a-f]{8}$|\d{8,10}$|\[[0-9a-f:]+\]$")
_HERE = re.compile(
    r"(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|\[::1?\]|\[f[cde])"
    r"|.*\.(?:local|internal|lan|test)$"
)
_SAMPLE = re.compile(r"(?:192\.0\.2|198\.51\.100|203\.0\.113|1\.2\.3\.4$|x\.x)")
_DROPS = frozenset(
    (
        "a paste site",
        "a file drop",
        "a throw-away host name",
        "an anonymous store",
        "an anonymous host",
    )
)
_CATCHERS = frozenset(("a request catcher", "an out-of-band catcher"))


_PASTES = word_set("gist.githubusercontent.com gist.github.com")
_THROWAWAY = tuple(
    word_set(
        ".workers.dev .glitch.me .repl.co .replit.app .replit.dev .surge.sh .000webhostapp.com "
        ".deno.dev .convex.site .weebly.com .blogspot.com"
    )
)
"""Hosts where anybody gets a name in a minute."""
_CODE_HOSTS = word_set(
    "github.com raw.githubusercontent.com objects.githubusercontent.com gitlab.com codeberg.org "
    "bitbucket.org storage.googleapis.com huggingface.co hf.co"
)
_INSTALLS = re.compile(
    r"(?i)install|setup|\bstart|\bget[-_.]|latest|download|releases?/|/(?:cli|init|nix|win)\b"
)


_INSTALL_HOST = re.compile(r"^(?:get|cli|install|sh|run|setup|dl|download|start)[.-]|\.(?:sh|run)$")


def is_installer(url: str) -> bool:
    """Say whether an address is one that honest tools tell people to install from: it has a named
    owner, and is called an installer.
    """
    low = url.lower()
    name = host(low)
    if low.startswith(("http://", "ftp://")) or "$" in url or "." not in name or shady(url):
        return False
    path = low.partition("://")[2] or low
    path = path.partition("/")[2]
    return (
        known_installer(url)
        or name.removeprefix("www.") in _CODE_HOSTS
        or bool(_INSTALLS.search("/" + path) if path else _INSTALL_HOST.search(name))
    )


_ADDRESS = re.compile(r"(?i)\bhttps?://[^\s'\"<>|;)\]},]{1,2000}")


def only_installs(text: str) -> bool:
    """Say whether every address that a command fetches from is an installer's."""
    found = _ADDRESS.findall(text[:4096])
    return bool(found) and all(is_installer(url) or is_this_machine(url) for url in found)


def known_installer(url: str) -> bool:
    """Say whether the address is where a widely used project keeps its installer."""
    rest = url.lower().removeprefix("https://").removeprefix("www.")
    return under(rest, INSTALLERS) and "/../" not in rest


def under(address: str, places_known: frozenset[str]) -> bool:
    """Say whether an address without its scheme lies under one of the places; a host's name must
    end where theirs does.
    """
    return any(
        address.startswith(one)
        and ("/" in one or address[len(one) : len(one) + 1] in ("", "/", "?", ":", "#"))
        for one in places_known
    )


def is_this_machine(url: str) -> bool:
    """Say whether the address is on this machine or in its own network."""
    return bool(_HERE.match(host(url)))


def shady(url: str) -> str:
    """Say why the address tells nothing about its owner, or return an empty text."""
    name = host(url)
    if is_this_machine(url) or not name:
        return ""
    if _NUMBER.match(name):
        return "a bare address"
    if name.removeprefix("www.") in SHORTENERS:
        return "a link shortener"
    if name in _PASTES:
        return "a paste site"
    if name.endswith(_THROWAWAY):
        return "a throw-away host name"
    what = places.names("exfiltration", url)
    if what in _DROPS:
        return what
    return (
        "a top-level domain that asks for no name"
        if name.rsplit(".", 1)[-1] in CHEAP and "." in name
        else ""
    )


def collector(what: str) -> str:
    """Return the rule for a place of the `exfiltration` table: request catchers weigh more than
    webhooks.
    """
    return "SC219" if what in _CATCHERS else "SC233"


NETCATS = word_set("nc ncat netcat nc.traditional nc.openbsd")
_FIFOS = word_set("mkfifo mknod")
_OBEYS = SHELLS | word_set("eval read $line $cmd")
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/")
_SHELL_PATH = re.compile(
    r"(?:^|[\s,:'\"=/])(?:ba|z|da|k|c)?sh(?:$|[\s,:'\"])|cmd\.exe|powershell", re.IGNORECASE
)
_SOCKET = re.compile(r"(?i)socket|fsockopen|net\.connect|createconnection|tcpsocket|/inet/tcp")
_SPAWNS = re.compile(
    r"(?i)dup2|/bin/(?:ba|z|da)?sh|\bpty\.spawn|cmd\.exe|child_process|subprocess|exec\s?[\s(]|open\(STDIN|getline"
)
_SOCKETED = word_set("python pypy perl ruby php lua node nodejs awk gawk tclsh osascript")
"""Interpreters whose programs open connections themselves."""
_MINERS = word_set(
    "xmrig minerd cpuminer ethminer nbminer cgminer bfgminer t-rex lolminer xmr-stak "
    "phoenixminer nheqminer xmrig-notls"
)
_POOL = re.compile(
    r"(?i)stratum\+(?:tcp|ssl|tls)://|--donate-level\b|(?:--coin[= ]|-a |--algo[= ])(?:monero|randomx|rx/0|cn/)"
)
_SCANNERS = word_set(
    "nmap masscan zmap arp-scan netdiscover hydra medusa sqlmap nikto gobuster ffuf "
    "responder crackmapexec netexec msfconsole msfvenom"
)
_TUNNELS = word_set(
    "ngrok cloudflared chisel frpc bore lt localtunnel playit zrok pagekite gost tunnelto"
)
_TUNNEL_WORDS = word_set("http https tcp tunnel client server share local start --port -c run")


def check_connections(script: ShellScript) -> Iterator[RuleHit]:
    """Give the hits of one script."""
    names = frozenset(call.name for call in script.calls)
    for call in script.calls:
        rule = _shell(script, call, names)
        if rule:
            yield call.hit("SC294" if _STANDS_FOR.search(_written(script, call)) else rule)
        if _mines(call):
            yield call.hit("SC280")
        if call.name in _SCANNERS:
            yield call.hit("SC295")
        if opens(call):
            yield call.hit("SC294")


def _mines(call: ShellCall) -> bool:
    """Say whether a miner is started: a pool's address alone is also what reports speak of."""
    if call.name in _MINERS:
        return bool(call.args) and not call.has("--version", "--help")
    return any(arg[:1] == "-" for arg in call.args) and bool(
        _POOL.search(" ".join(call.args[:60])[:8192])
    )


def opens(call: ShellCall) -> bool:
    """Say whether the call lets others reach this machine."""
    if call.name in _TUNNELS:
        return any(arg in _TUNNEL_WORDS for arg in call.args[:6])
    if call.name in ("ssh", "autossh"):
        return any(
            arg[:2] == "-R" or (arg[:1] == "-" and arg[1:2] != "-" and arg.endswith("R"))
            for arg in call.args
        )
    if call.name == "tailscale":
        return call.args[:1] == ("funnel",)
    return call.name in NETCATS and call.flagged("l") and not call.has("-zv", "localhost")


_STANDS_FOR = re.compile(r"(?i)attacker|your[_-]?(?:ip|host)|<[\w .-]{1,30}>|\bL?HOST\b|\bIP\b")
"""What stands for an address in a text that teaches."""


def _written(script: ShellScript, call: ShellCall) -> str:
    return script.text[call.start : min(call.end, call.start + 2000)]


def _shell(script: ShellScript, call: ShellCall, names: frozenset[str]) -> str:
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
    if call.name in _SOCKETED:
        code = " ".join((*call.args, *[one.body for one in call.redirects]))[:65536]
        if _SOCKET.search(code) and _SPAWNS.search(code) and _SHELL_PATH.search(code):
            return "SC211" if re.search(r"\.listen\(|\bbind\(", code) else "SC210"
    connects = call.name == "telnet" or (call.name == "openssl" and call.has("s_client"))
    return "SC210" if connects and _neighbours(script, call) else ""


def _netcat(script: ShellScript, call: ShellCall, names: frozenset[str]) -> str:
    given = [
        program(arg) in SHELLS or program(arg.split(" ")[0]) in SHELLS or "cmd.exe" in arg.lower()
        for arg in call.args
    ]
    runs = any(given) and (
        call.flagged("e", "c")
        or call.has("--exec", "--sh-exec")
        or any(arg.startswith(("--exec=", "--sh-exec=")) for arg in call.args)
    )
    if runs or _neighbours(script, call) or (names & _FIFOS and names & SHELLS):
        return "SC211" if call.flagged("l") or call.has("--listen") else "SC210"
    return ""


def _neighbours(script: ShellScript, call: ShellCall) -> bool:
    """Say whether a shell without a program of its own stands before or behind the connection."""
    line = script.pipelines[call.command.pipeline]
    return any(one.name in SHELLS and not one.plain() and not one.flagged("c") for one in line)


def _device(call: ShellCall, names: frozenset[str]) -> str:
    """Bash opens /dev/tcp/host/port itself. A probe of a port does too, but it does not tie its
    input and output to it.
    """
    targets = [one for one in call.redirects if _DEVICE.search(one.target.text)]
    if not targets and not any(_DEVICE.search(arg) for arg in call.args):
        return ""
    both = any(one.op in ("<>", ">&") for one in targets)
    interactive = call.name in SHELLS and call.flagged("i")
    tied = any(
        one.op in (">&", "<&", "<") and one.target.text in ("0", "1", "2", "&1", "&0")
        for one in call.redirects
    )
    obeyed = call.name in ("exec", "") and names & _OBEYS
    return "SC210" if interactive or (both and (tied or obeyed)) else ""


_RESOLVERS = word_set("dig nslookup host drill getent resolvectl")
_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{40,}|(?:\\x[0-9A-Fa-f]{2}){8,}|[0-9A-Fa-f]{60,}")
_ESCAPES = re.compile(r"(?:\\x[0-9A-Fa-f]{2}|\\[0-7]{3}){4,}")
_DECODES = re.compile(
    r"(?i)b64decode|b16decode|base64|atob\(|fromhex|unhexlify|zlib\.decompress|marshal\.loads|rot.?13|'hex'|\"hex\""
    r"|chr\(\d"
)
_RUNS = re.compile(
    r"\b(?:exec|eval|system|popen|Function|execSync|spawn|subprocess|compile|__import__)\b\s{0,3}[(\s]"
)
_REMOTE = re.compile(
    r"(?i)urlopen|requests\.get|urllib|http\.get|fetch\(|LWP::|Net::HTTP|file_get_contents\(\s?.http|open-uri"
)
_HIDDEN = re.compile(
    r"(?:^|/)(?:tmp|var/tmp|dev/shm|\.cache|\.local/share|\.config)/(?:[^/\s]{1,80}/){0,3}\.[\w-][^/\s]{0,80}$"
    r"|^/dev/shm/|^\./\.[\w-]{1,80}$"
)
_ARCHIVES = re.compile(
    r"\.(?:zip|tar|tgz|gz|xz|bz2|7z|rar|json|txt|md|csv|html?|png|jpe?g|pdf|ya?ml|gpg|asc|mp[34]|xml|sql)$",
    re.IGNORECASE,
)
_QUIET_EVALS = word_set(
    "ssh-agent brew direnv starship zoxide pyenv rbenv nodenv fnm mise conda opam "
    "register-python-argcomplete dircolors thefuck mcfly atuin keychain minikube "
    "docker-machine gpg-agent luarocks jenv goenv rtx devbox op"
)
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
_WORTH_HIDING = (
    FETCHERS
    | INTERPRETERS
    | NETWORK
    | word_set(
        "rm cat chmod base64 eval exec sudo env printenv xxd openssl crontab dd tar zip "
        "whoami id mkfifo nohup tee find grep security history kill pkill systemctl launchctl "
        "xmrig echo printf cp mv head tail uname hostname"
    )
)
_GLOBBED = re.compile(r"^/(?:[a-z?]{1,8}/){1,3}[a-z?*]{0,8}\?[a-z?*]{0,8}$")


def check_fetched_code(script: ShellScript) -> Iterator[RuleHit]:
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
        if read.decodes(call.name, call.args) and any(
            _BLOB.search(one.body[:8192]) for one in call.redirects if one.op == "<<<"
        ):
            yield call.hit("SC207", (read.unbase64(call.redirects[0].body) or "")[:200])
        if call.name in (
            "unzip",
            "7z",
            "7za",
            "7zz",
            "unrar",
        ):
            yield from _locked(call)
    yield from _downloaded(script)
    yield from _answered(script)


def _answered(script: ShellScript) -> Iterator[RuleHit]:
    """Follow the variables that hold what the network answered to where they are run."""
    held: dict[str, tuple[ShellCall, str]] = {}
    for call in script.calls:
        for name, word in call.command.assigns if not call.name else ():
            for one in script.below(call) if "$()" in word.text else ():
                if one.name in FETCHERS:
                    held[name] = (one, _piped(one, script))
                elif one.name in _RESOLVERS:
                    held[name] = (one, "SC216")
    for call in script.calls if held else ():
        runs = call.name in ("eval", "source", ".") or (
            call.name in SHELLS
            and (call.flagged("c") or any(one.op == "<<<" for one in call.redirects))
        )
        fed = call.name in ("echo", "printf") and any(
            one.name in SHELLS and reads_program(one) for one in script.after(call)
        )
        first = call.program_word()
        words = [*call.args, *[one.target.text for one in call.redirects if one.op == "<<<"]]
        if first is not None and first.text[:1] == "$":
            runs = True
            words = [first.text]
        for name, (_, rule) in held.items() if runs or fed else ():
            if any(re.search(rf"\$\{{?{re.escape(name)}\b", word[:2000]) for word in words):
                yield call.hit(rule)


def reads_program(call: ShellCall) -> bool:
    """Say whether an interpreter takes its program from its input: `bash -s` does, `python -m
    json.tool` does not.
    """
    if call.name not in INTERPRETERS or call.name == "cmd":
        return False
    if call.name in SHELLS:
        plain = [arg for arg in call.args if arg[:1] not in "-+" or arg == "-"]
        return not (call.flagged("c") and "xargs" not in call.wraps) and (
            not plain or plain[0] in ("-", "/dev/stdin") or call.has("-s")
        )
    if call.name in ("source", "."):
        return call.args[:1] == ("/dev/stdin",)
    if call.name in ("deno", "bun", "tsx", "pwsh", "powershell"):
        return call.args[-1:] == ("-",)
    return (
        call.args in ((), ("-B",))
        or call.args[0] in ("-", "-u", "/dev/stdin")
        or call.name in ("iex", "invoke-expression")
    )


def _pipeline(script: ShellScript, line: list[ShellCall]) -> Iterator[RuleHit]:
    runner = next((call for call in line[1:] if reads_program(call)), None)
    if runner is None:
        for call in line[1:]:  # tee >(bash)
            runner = next((one for one in script.inside(call, "<(") if reads_program(one)), runner)
    if runner is None:
        yield from _decoded_only(line)
        return
    feeders = [call for call in line if call.place < runner.place]
    for call in feeders:
        if call.name in FETCHERS or any(
            one.name in FETCHERS for one in script.inside(call, "$(", "`")
        ):
            yield call.hit(_piped(call, script), until=runner)
        if call.name in _RESOLVERS:
            yield call.hit("SC216", until=runner)
        scrambled = call.name in ("echo", "printf") and any(
            _ESCAPES.search(arg) for arg in call.args
        )
        if read.decodes(call.name, call.args) or call.name in ("rev", "tr") or scrambled:
            yield feeders[0].hit("SC206", _worked_out(feeders), runner)


def _piped(call: ShellCall, script: ShellScript) -> str:
    found = urls(call) or [url for one in script.inside(call) for url in urls(one)]
    if not found:  # `curl … | bash` speaks of such commands; a variable hides the address
        computed = "xargs" in call.wraps or any("$" in arg or "`" in arg for arg in call.args)
        return "SC201" if computed else "SC202"
    known = all(is_this_machine(url) for url, _ in found) or all(
        is_installer(url) for url, _ in found
    )
    return "SC202" if known and not _unseen(script, call) else "SC201"


def _unseen(script: ShellScript, call: ShellCall) -> bool:
    """Say whether what is fetched runs where nobody sees it: in the background, its output thrown
    away.
    """
    line = [call, *script.after(call)]
    silent = any(
        one.target.text == "/dev/null" and (other.name in INTERPRETERS or one.op == "&>")
        for other in line[1:]
        for one in other.redirects
    )
    return (
        line[-1].command.link == "&"
        or any(wrap in ("nohup", "setsid") for one in line for wrap in one.wraps)
        or (silent and len(line) > 1 and sum(len(one.redirects) for one in line[1:]) > 1)
    )


def _worked_out(feeders: list[ShellCall]) -> str:
    said = read.output(
        [[word.text for word in call.command.words] for call in feeders if call.command.words]
    )
    return (said or "")[:200]


def _decoded_only(line: list[ShellCall]) -> Iterator[RuleHit]:
    for place, call in enumerate(line[1:], 1):
        if read.decodes(call.name, call.args) and any(
            _BLOB.search(arg) for arg in line[place - 1].args
        ):
            yield line[place - 1].hit("SC207", _worked_out(line[: place + 1]), call)
            return


def _substituted(script: ShellScript, call: ShellCall) -> Iterator[RuleHit]:
    """Look at what is put into a shell's program by a substitution: `bash -c "$(curl …)"`, `source
    <(curl …)`.
    """
    inner = script.inside(call, "$(", "`", "<(")
    if call.name in SHELLS and not (
        call.flagged("c") or any("<(" in arg or arg == "$()" for arg in call.args[:2])
    ):
        inner = script.inside(call, "<(") if call.redirects else []
    elif (
        call.name in PROGRAM_OPTIONS
        and not given_program(call)
        and not any("<(" in arg for arg in call.args[:2])
    ):
        inner = []
    for one in inner:
        if one.name in FETCHERS:
            yield call.hit(_piped(one, script))
        elif one.name in _RESOLVERS:
            yield call.hit("SC216")
        elif read.decodes(one.name, one.args):
            yield call.hit("SC206", _worked_out([*script.before(one), one]))
    if (
        call.name == "eval"
        and any("$" in arg for arg in call.args)
        and not any(
            one.name in FETCHERS
            or one.name in _QUIET_EVALS
            or one.has("init", "hook", "env", "shellenv", "completion")
            for one in inner
        )
    ):
        yield call.hit("SC209")


def _inline(call: ShellCall) -> Iterator[RuleHit]:
    """Look at code on the command line of another language's interpreter."""
    word = given_program(call)
    code = word.text if word else next((one.body for one in call.redirects if one.body), "")
    if not code or call.name in SHELLS:
        return
    code = code[:65536]
    yield call.hit("SC293")
    if (
        _DECODES.search(code)
        and _RUNS.search(code)
        and (_BLOB.search(code) or "exec(" in code or "eval(" in code)
    ):
        yield call.hit("SC215")
    elif _REMOTE.search(code) and re.search(r"\b(?:exec|eval)\s{0,3}\(", code):
        yield call.hit("SC201")


def _sources(call: ShellCall) -> Iterator[RuleHit]:
    for url, word in urls(call):
        why = shady(url)
        if why:
            yield RuleHit("SC204", word.start, word.end, f"{why}: {url[:120]}")
        if url[:7].lower() == "http://" and not is_this_machine(url):
            yield RuleHit("SC205", word.start, word.end)


def _hidden(script: ShellScript, call: ShellCall) -> Iterator[RuleHit]:
    first = call.program_word()
    if first is None:
        return
    raw = script.text[first.start : first.end]
    if (
        first.masked
        and call.name in _WORTH_HIDING
        and len(raw) <= 60 + 3 * len(first.text)
        and hides(raw)
    ):
        yield RuleHit("SC208", first.start, first.end, first.text[:80])
    elif "?" in raw and _GLOBBED.match(raw):
        yield RuleHit("SC208", first.start, first.end)
    elif any(
        word.masked and "IFS" in script.text[word.start : word.end] for word in call.words[:20]
    ):
        yield RuleHit("SC208", first.start, call.end, " ".join((call.name, *call.args))[:200])
    tried = call.args[0] if call.name in SHELLS and call.args else first.text
    if _HIDDEN.search(tried) and not tried.endswith((".env", ".json", ".md", ".txt")):
        yield call.hit("SC212")


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


def _locked(call: ShellCall) -> Iterator[RuleHit]:
    unpacks = call.name == "unrar" or (call.name[:2] == "7z" and call.args[:1] in (("x",), ("e",)))
    if (call.name == "unzip" and call.option("-P")) or (
        unpacks and any(arg[:2] == "-p" and arg not in ("-p", "-p-") for arg in call.args)
    ):
        yield call.hit("SC214")


# --- downloaded, then run


def _downloaded(script: ShellScript) -> Iterator[RuleHit]:
    """Follow the names of downloaded files to where they are run."""
    files = {}
    for call in sorted(script.calls, key=lambda one: (one.start, one.place)):
        if call.name in FETCHERS:
            for name in outputs(call):
                files[name] = (call, _piped(call, script))
        elif files and (name := _run(call, files)):
            origin, rule = files[name]
            url = next((url for url, _ in urls(origin)), "the network")
            yield call.hit("SC203" if rule == "SC201" else rule, f"{name} comes from {url[:120]}")
            if rule == "SC201" and (
                call.command.link == "&" or "nohup" in call.wraps or "setsid" in call.wraps
            ):
                yield call.hit("SC213")


def outputs(call: ShellCall) -> list[str]:
    """Return the base names of the files that a fetcher writes."""
    named = [
        word.text
        for word in call.option(
            "-o",
            "--output",
            "-O" if call.name == "wget" else "--out",
            "--output-document",
            "-OutFile",
        )
    ]
    named += call.outputs()
    if not named and (
        (call.name == "wget" and not any(arg.endswith("O-") for arg in call.args))
        or call.flagged("O")
    ):
        named = [url.split("?")[0] for url, _ in urls(call)]
    bases = [name.rstrip("/").rsplit("/", 1)[-1] for name in named]
    return [
        base for base in bases if base and base not in ("-", "null") and not _ARCHIVES.search(base)
    ]


def _run(call: ShellCall, files: dict[str, tuple[ShellCall, str]]) -> str:
    """Return which of the files the call runs, if any."""
    word = call.program_word()
    tried = [word.text] if word else []
    if call.name in INTERPRETERS or call.name in ("open", "installer", "start", "eval"):
        tried += call.args[:4]
    bases = (text.rsplit("/", 1)[-1] for text in tried)
    return next((base for base in bases if base in files), "")
