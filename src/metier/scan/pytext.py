"""What a text in Python code names or commands, and the line-by-line look at code that does not parse."""

from __future__ import annotations

import re
from typing import NamedTuple

from metier.scan import pynames as n

TEXT_CHARS = 20_000
"""How much of one text is looked at."""

_SEP = r"[/\\]"
CRED = (
    rf"\.ssh(?:{_SEP}|$)|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws(?:{_SEP}|$)|\.gnupg\b|\.kube(?:{_SEP}|$)|\.docker{_SEP}config"
    rf"|\.netrc\b|\.git-credentials|\.pypirc|\.npmrc|gcloud{_SEP}|application_default_credentials|\.azure(?:{_SEP}|$)|/etc/shadow"
    rf"|\bLogin Data\b|cookies\.sqlite|logins\.json|\bkey[34]\.db|{_SEP}Cookies$|\bLocal State\b|[kK]eychains?{_SEP}|\.keychain"
    rf"|\.password-store"
    rf"|wallet\.dat|\.electrum|\bExodus\b|Local Extension Settings|solana{_SEP}id\.json|\.bitcoin\b|\.ethereum\b|{_SEP}keystore\b"
    rf"|Local Storage{_SEP}leveldb|kwallet|keyrings|\.config{_SEP}gh\b|\.vault-token|\.terraform\.d|rclone\.conf|\.pgpass|\.my\.cnf"
    rf"|\.(?:bash|zsh)_history|/proc/(?:self|\d{{1,7}})/environ|User Data{_SEP}Default|\.mozilla{_SEP}firefox|google-chrome"
    rf"|BraveSoftware|Firefox{_SEP}Profiles|MetaMask|\.config{_SEP}solana"
)
WEAK = (
    rf"(?:^|{_SEP}|\*)\.env(?:\.[a-z]{{1,12}})?$|\bcredentials\.json$|\bsecrets?\.(?:json|ya?ml|toml)$|\.pem$"
    rf"|\.(?:codex|claude|openclaw|clawdbot|moltbot|gemini|cursor){_SEP}\S{{0,60}}(?:auth|credential|token|\.env|openclaw\.json"
    rf"|clawdbot\.json)"
    r"|\bauth-profiles\.json"
)
START = (
    rf"\.(?:bashrc|zshrc|bash_profile|zprofile|profile|zshenv|bash_login|xprofile|xinitrc)\b|config\.fish|\bcrontab\b|cron\.(?:d"
    rf"|daily|hourly)\b"
    rf"|spool{_SEP}cron|LaunchAgents|LaunchDaemons|systemd{_SEP}(?:user|system)\b|{_SEP}autostart\b|Programs{_SEP}{{1,2}}Startup"
    rf"|Menu{_SEP}{{1,2}}Programs"
    rf"|CurrentVersion{_SEP}{{1,2}}Run|\brc\.local|authorized_keys|\.git{_SEP}hooks|/etc/(?:init\.d|profile|sudoers|passwd|hosts"
    rf"|ld\.so\.preload)\b"
    r"|\b(?:site|user)customize\.py|\.pth$"
)
AGENT = (
    r"\b(?:CLAUDE|AGENTS|GEMINI|SOUL|MEMORY|HEARTBEAT|IDENTITY)\.md\b|\.cursorrules|\.windsurfrules|copilot-instructions\.md"
    rf"|\.claude{_SEP}(?:settings|hooks|commands|skills|agents)|\.?mcp\.json\b|claude_desktop_config|\.cursor{_SEP}(?:rules|mcp"
    rf"|hooks)"
    rf"|\.codex{_SEP}(?:config|hooks|prompts)|\.(?:openclaw|clawdbot|moltbot){_SEP}"
)
DROP = (
    r"webhook\.site|requestbin|pipedream\.net|\boast\.(?:fun|pro|live|site|online|me)\b|interact\.sh|burpcollaborator"
    r"|oastify\.com|\bngrok\b"
    r"|serveo\.net|trycloudflare\.com|localtunnel|\bloca\.lt\b|transfer\.sh|\bfile\.io\b|\b0x0\.st\b|anonfiles|gofile\.io"
    r"|beeceptor|hookb\.in"
    r"|requestcatcher|dnslog|\bceye\.io|canarytokens|pastebin\.com|\bpaste\.ee|hastebin|\bix\.io\b|termbin|catbox\.moe"
    r"|tmpfiles\.org|bashupload"
    r"|\btemp\.sh\b|\.onion\b|duckdns\.org|no-ip\.\w{2,4}\b|ddns\.net"
)
CHAT = r"discord(?:app)?\.com/api/webhooks|hooks\.slack\.com/services|api\.telegram\.org/bot"
META = r"169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200"
_IP = r"(?:https?|ftp|wss?|tcp)://(?:\d{1,3}\.){3}\d{1,3}(?=[:/]|$)|^(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?$"
_LOCAL_IP = re.compile(
    r"(?:127|10|0|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01])|255|203\.0\.113|198\.51\.100|192\.0\.2|8\.8"
    r"|1\.1\.1|1\.0\.0)\."
)


class Kind(NamedTuple):
    """One kind of thing that a text may name. Where none of the words stands, the pattern need not be tried."""

    label: int
    pattern: re.Pattern[str]
    words: tuple[str, ...]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _kind(label: int, pattern: str, words: str) -> Kind:
    return Kind(label, re.compile(pattern), _words(words))


KINDS = (
    _kind(
        n.CRED_PATH,
        CRED,
        ".ssh,id_rsa,id_ed,id_ec,id_dsa,.aws,.gnupg,.kube,.docker,.netrc,.git-cred,.pypirc,.npmrc,gcloud,default_cred,.azure,shadow,"
        "login data,cookies,logins.json,key3.db,key4.db,local state,keychain,.password-s,wallet,.electrum,exodus,"
        "extension settings,"
        "solana,.bitcoin,.ethereum,keystore,leveldb,keyrings,.config/gh,.config\\gh,.vault-t,.terraform,rclone,.pgpass,.my.cnf,"
        "_history,environ,user data,.mozilla,google-chrome,brave,firefox,metamask",
    ),
    _kind(
        n.WEAK_PATH, WEAK, ".env,credential,secret,.pem,.codex,.claude,.openclaw,.clawdbot,.moltbot,.gemini,.cursor,auth-profiles"
    ),
    _kind(
        n.START_PATH,
        START,
        "bashrc,zshrc,profile,zshenv,_login,xinitrc,config.fish,cron,launchagents,launchdaemons,systemd,autostart,startup,programs,"
        "currentversion,rc.local,authorized_keys,.git/hooks,.git\\,init.d,sudoers,/etc/,customize,.pth",
    ),
    _kind(
        n.AGENT_PATH,
        AGENT,
        "claude,agents.md,gemini.md,soul.md,memory.md,heartbeat.md,identity.md,cursor,windsurf,copilot,mcp.json,.codex,.openclaw,.clawdbot,.moltbot",
    ),
    _kind(
        n.DROP_HOST,
        DROP,
        "webhook.site,requestbin,pipedream,oast,interact.sh,burpcoll,ngrok,serveo,trycloudflare,localtunnel,loca.lt,transfer.sh,file.io,"
        "0x0.st,anonfiles,gofile,beeceptor,hookb.in,requestcatcher,dnslog,ceye.io,canarytokens,pastebin,paste.ee,hastebin,ix.io,termbin,"
        "catbox,tmpfiles,bashupload,temp.sh,.onion,duckdns,no-ip,ddns.net",
    ),
    _kind(n.CHAT_HOST, CHAT, "/webhooks,hooks.slack,telegram"),
    _kind(n.METADATA, META, "169.254,metadata.google,100.100."),
)
MINING_WORDS = _words("stratum,xmrig,minerd,cpuminer,cryptonight,randomx,coinhive,mining.,donate-level,nicehash,ethminer")
WATCHER_WORDS = _words(
    "vmware,vbox,virtualbox,qemu,sandbox,sbiedll,wireshark,procmon,process hacker,processhacker,ollydbg,x64dbg,x32dbg,ida.exe,"
    "ida64.exe,idaq,cuckoo,joebox,fiddler,hyper-v,hyperv,parallels,tracerpid,xen"
)


def has_word(low: str, words: tuple[str, ...]) -> bool:
    """Tell whether one of the words stands in a text of small letters."""
    return any(word in low for word in words)


def kinds_in(low: str) -> tuple[Kind, ...]:
    """Give the kinds that a text of small letters, or any plain part of it, may name."""
    return tuple(kind for kind in KINDS if has_word(low, kind.words))


_DOTTED = re.compile(r"\d\.\d{1,3}\.\d")
_BARE_IP = re.compile(_IP)

MINING = re.compile(
    r"stratum\+(?:tcp|ssl)://|\bxmrig\b|\bminerd\b|\bcpuminer\b|cryptonight|\brandomx\b|coinhive"
    r"|\bmining\.(?:subscribe|authorize|submit)\b|--donate-level|nicehash|\bethminer\b"
)
SHELL = re.compile(
    r"\b(?:curl|wget|fetch)\b[^\n|;]{0,300}\|\s{0,4}(?:sudo\s{1,4})?(?:ba|z|da|k)?sh\b|\b(?:curl"
    r"|wget)\b[^\n|;]{0,300}\|\s{0,4}(?:sudo\s{1,4})?(?:python3?|perl|ruby|node)\b"
    r"|/dev/(?:tcp|udp)/|\bbase64\b\s{1,4}(?:-d|-D"
    r"|--decode)[^\n;]{0,40}\|\s{0,4}(?:ba|z)?sh\b"
    r"|\b(?:ba)?sh\s{1,4}-i\b|(?i:powershell)[^\n]{0,80}\s-(?i:e|ec|enc|encodedcommand)\b|(?i:\biex\b|invoke-expression)|\bmkfifo\b"
    r"|\b(?:curl|wget)\b[^\n]{0,300}(?:&&|;)\s{0,4}(?:chmod\s{1,4}(?:\+x|[0-7]{3,4})|(?:ba)?sh\s|\./)"
    r"|(?:ba)?sh\s{1,4}-c\s{1,4}[\"']?\$\(\s{0,4}(?:curl|wget)\b"
    r"|\bosascript\b[^\n]{0,200}(?:password|hidden answer)|\bmshta\b\s{1,4}http|\bcertutil\b[^\n]{0,80}-urlcache"
)
NETCAT = re.compile(r"nc(?<![a-zA-Z_]nc)(?:at)?\s[^\n;|]{0,80}?-[a-z]{0,4}e\b")
PERSIST = re.compile(
    r"\bcrontab\s{1,4}-(?!l\b)|\|\s{0,4}crontab\b|\blaunchctl\s{1,4}(?:load|bootstrap)"
    r"|\bsystemctl\s{1,4}(?:--user\s{1,4})?enable\b|(?i:\bschtasks\b[^\n]{0,40}/create)"
    r"|(?i:\breg\s{1,4}add\b[^\n]{0,120}currentversion\\{1,2}run)|>>\s{0,4}(?:~|\$HOME)/\.(?:bashrc|zshrc|profile|bash_profile)"
)
WIPE = re.compile(
    r"\brm\s{1,4}-(?:[a-zA-Z]{0,4}r[a-zA-Z]{0,4})\s{1,4}(?:-\S{1,20}\s{1,4}){0,3}(?:--no-preserve-root\s{1,4})?[\"']?(?:/|~/?"
    r"|\$HOME/?|/\*|~/\*|\$\{?HOME\}?/?)[\"']?(?:\s|$|;|&)"
    r"|\bmkfs\.|\bdd\s{1,4}[^\n]{0,40}of=/dev/(?:sd|nvme|hd|disk)|:\(\)\s{0,4}\{|(?i:\bformat\s{1,4}c:)|\bshred\s"
)
BLIND = re.compile(
    r"(?i:set-mppreference|disablerealtimemonitoring|add-mppreference)|\bspctl\b[^\n]{0,40}--master-disable"
    r"|\bcsrutil\s{1,4}disable|\bsetenforce\s{1,4}0\b"
    r"|\bufw\s{1,4}disable|\biptables\s{1,4}-F\b|\bhistory\s{1,4}-c\b|unset\s{1,4}HISTFILE|HISTFILE=/dev/null"
    r"|(?i:\bwevtutil\s{1,4}cl\b)|com\.apple\.quarantine|\bxattr\s{1,4}-(?:c|cr|d)\b"
    r"|(?i:\bvssadmin\b[^\n]{0,40}delete)|\bauditctl\s{1,4}-e\s{0,4}0"
)
RIGHTS = re.compile(
    r"(?:^|[;&|]\s{0,4})(?:sudo|doas|pkexec)\s|\bchmod\s{1,4}(?:[ugoa]{0,4}\+s|[24]7[0-7]{2})\b"
    r"|with administrator privileges|\bNOPASSWD\b"
)
INSTALL = re.compile(
    r"\b(?:pip3?|uv pip|pipx|npm|pnpm|yarn|gem|cargo|brew|apt"
    r"|apt-get)\s{1,4}(?:-\S{1,20}\s{1,4}){0,3}(?:install|add|i)\s"
)
WATCHERS = re.compile(
    r"(?i:\bvmware\b|virtualbox|\bvbox\w{0,12}|\bqemu\b|sandboxie|sbiedll|wireshark|procmon|process ?hacker|ollydbg|x64dbg"
    r"|x32dbg|\bida(?:64|q)?\.exe|cuckoo|joebox|fiddler|\bhyper-?v\b"
    r"|\bparallels\b|tracerpid|\bxen\b|sandbox\b)"
)
SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|PRIVATE|MNEMONIC|SEED_PHRASE|AUTH")
HIDDEN = re.compile(
    r"https?://|\b(?:import|exec|eval|subprocess|os\.system|__import__|socket)\b|/bin/(?:ba)?sh|\bcurl\s|\bwget\s|powershell"
    r"|\.ssh/|\.aws/|/etc/(?:passwd|shadow)|cmd\.exe"
    r"|\bignore (?:all )?(?:previous|prior)\b"
)


def labels(text: str, kinds: tuple[Kind, ...] | None = None) -> int:
    """Tell which paths and hosts a text names, as labels."""
    found = 0
    for label, pattern, _ in kinds_in(text.lower()) if kinds is None else kinds:
        if pattern.search(text, 0, TEXT_CHARS):
            found |= label
    if _DOTTED.search(text, 0, TEXT_CHARS) and is_bare_ip(text):
        found |= n.BARE_IP
    return found


def is_bare_ip(text: str) -> bool:
    """Tell whether a text has an address with a number for a host, one that is not local or kept for examples."""
    for match in _BARE_IP.finditer(text[:TEXT_CHARS]):
        host = match[0].rpartition("/")[2]
        parts = host.partition(":")[0].split(".")
        if all(int(part) < 256 for part in parts) and not _LOCAL_IP.match(host):
            return True
    return False


def of_command(command: str) -> list[str]:
    """Name the rules that a shell command breaks, as far as a look at its text tells."""
    text = command[:TEXT_CHARS]
    table = (
        ("SC338", SHELL),
        ("SC309", PERSIST),
        ("SC311", WIPE),
        ("SC343", BLIND),
        ("SC339", RIGHTS),
        ("SC340", INSTALL),
        ("SC328", MINING),
    )
    return [rule for rule, pattern in table if pattern.search(text)]
