"""Holds the tables behind the Python taint walk: which names give, change, take or do what, and
what a text in code names or commands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.languages.shell.remote import only_installs
from metier.scan.model import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.model import Texts

# --- labels: where a value came from or what it names, one bit each

ENV = 1 << 0  # one variable of the environment
SECRET_ENV = 1 << 1  # one whose name says that it is a secret
ENV_ALL = 1 << 2  # the environment as a whole
CRED = 1 << 3  # content of a credential file
WEAK = 1 << 4  # content of a secrets file that a skill may well own (.env)
FILE = 1 << 5  # content of any file
CLIP = 1 << 6  # clipboard, keys, screen
INPUT = 1 << 7  # arguments and typed text
NET = 1 << 8  # what the network answered
DECODED = 1 << 9  # decoded, decompressed, unmarshalled
HOST = 1 << 10  # who and where this machine is
PROC = 1 << 11  # output of a command
DATE = 1 << 12  # what the clock says
BUILT = 1 << 13  # text that was computed, not written
CRED_PATH = 1 << 14
WEAK_PATH = 1 << 15
START_PATH = 1 << 16
AGENT_PATH = 1 << 17
FETCHED_PATH = 1 << 18  # a file that was written with what the network answered
DROP_HOST = 1 << 19
CHAT_HOST = 1 << 20
BARE_IP = 1 << 21
METADATA = 1 << 22
SELF = 1 << 23  # this very file
WATCHED = 1 << 24  # a sign of a debugger or sandbox
WORK_PATH = 1 << 26
WORK = 1 << 27  # content of the user's documents, mail, messages, conversations
SWEPT = 1 << 28  # one of all the files of a folder
SWEPT_HOME = 1 << 29  # one of all the files of the user
ENCODED = 1 << 25  # holds a variable of the environment that the code itself encoded

PATHS = CRED_PATH | WEAK_PATH | START_PATH | AGENT_PATH | FETCHED_PATH | SELF | WORK_PATH
CARRIED = WORK | CRED | WEAK | ENV_ALL | CLIP | FILE | HOST | PROC | SECRET_ENV
"""What makes a request an outflow."""


_VERBS = "get post put patch delete head options request stream send"
_SESSIONS = (
    "requests requests.Session() requests.session() httpx httpx.Client() httpx.AsyncClient() "
    "aiohttp aiohttp.ClientSession() "
    "cloudscraper.create_scraper() urllib3 urllib3.PoolManager() curl_cffi.requests "
    "http.client.HTTPConnection() "
    "http.client.HTTPSConnection() httplib.HTTPConnection() httplib.HTTPSConnection() treq "
    "grequests"
)

_ROLES = {
    "code": (
        "exec eval execfile runpy.run_path runpy.run_module code.interact "
        "types.FunctionType; code.InteractiveInterpreter(). runcode runsource; "
        "code.InteractiveConsole(). runcode runsource push"
    ),
    "shell": (
        "os.system os.popen os.popen2 os.popen3 os.startfile commands.getoutput "
        "commands.getstatusoutput subprocess.getoutput subprocess.getstatusoutput "
        "asyncio.create_subprocess_shell posix.system nt.system pexpect.spawn pexpect.run"
    ),
    "process": (
        "pty.spawn asyncio.create_subprocess_exec _posixsubprocess.fork_exec; subprocess. "
        "run Popen call check_call check_output; os. execl execle execlp execlpe execv "
        "execve execvp execvpe posix_spawn posix_spawnp spawnl spawnle spawnlp spawnlpe "
        "spawnv spawnve spawnvp spawnvpe"
    ),
    "network": (
        "urllib.urlopen urllib.urlretrieve urllib2.urlopen urllib2.Request wget.download "
        "websocket.create_connection websockets.connect xmlrpc.client.ServerProxy "
        "socket.create_connection telnetlib.Telnet asyncio.open_connection; urllib.request. "
        "urlopen Request urlretrieve URLopener FancyURLopener; socket.socket(). connect "
        "connect_ex send sendall sendto; socket.create_connection(). send sendall; "
        "smtplib.SMTP(). sendmail send_message; smtplib.SMTP_SSL(). sendmail send_message; "
        "ftplib.FTP(). storbinary storlines retrbinary; paramiko.SSHClient(). connect "
        "exec_command"
    ),
    "lookup": (
        "socket. gethostbyname gethostbyname_ex getaddrinfo; dns.resolver. resolve query; "
        "dns.resolver.Resolver(). resolve query"
    ),
    "decode": (
        "zlib.decompress gzip.decompress bz2.decompress lzma.decompress bytes.fromhex "
        "bytearray.fromhex codecs.decode html.unescape urllib.parse.unquote "
        "urllib.parse.unquote_plus urllib.unquote quopri.decodestring codecs.escape_decode; "
        "base64. b64decode b32decode b16decode b85decode a85decode urlsafe_b64decode "
        "standard_b64decode decodebytes decodestring; binascii. unhexlify a2b_base64 "
        "a2b_hex"
    ),
    "encode": (
        "binascii.hexlify binascii.b2a_base64 zlib.compress gzip.compress bz2.compress "
        "lzma.compress; base64. b64encode b32encode b16encode b85encode a85encode "
        "urlsafe_b64encode standard_b64encode encodebytes"
    ),
    "decrypt": "cryptography.fernet.Fernet().decrypt Fernet().decrypt",
    "unmarshal": "marshal.loads marshal.load types.CodeType",
    "unpickle": (
        "pickle. load loads Unpickler; cPickle. load loads Unpickler; _pickle. load loads Unpickler; "
        "dill. load loads Unpickler; cloudpickle. load loads Unpickler; joblib. load loads Unpickler"
    ),
    "native": (
        "ctypes.windll.kernel32. VirtualAlloc VirtualAllocEx RtlMoveMemory CreateThread "
        "CreateRemoteThread WriteProcessMemory; ctypes. CFUNCTYPE() memmove"
    ),
    "open": "open io.open codecs.open os.open io.FileIO os.fdopen aiofiles.open gzip.open",
    "reader": (
        "sqlite3.connect linecache.getlines fileinput.input os.listdir os.scandir os.walk "
        "glob.glob glob.iglob; shutil. copy copy2 copyfile copytree make_archive"
    ),
    "tls_off": "ssl. _create_unverified_context",
    "own_secret": "keyring.get_password",
    "secret": (
        "win32crypt.CryptUnprotectData browser_cookie3.load browser_cookie3.chrome "
        "browser_cookie3.firefox"
    ),
    "spy": (
        "pyperclip.paste PIL.ImageGrab.grab PIL.ImageGrab.grabclipboard "
        "pyautogui.screenshot mss.mss mss.mss().grab mss.mss().shot "
        "pynput.keyboard.Listener pynput.mouse.Listener keyboard.on_press keyboard.hook "
        "keyboard.record win32clipboard.GetClipboardData pyxhook.HookManager "
        "pyHook.HookManager clipboard.paste pandas.read_clipboard sounddevice.rec "
        "ImageGrab.grab"
    ),
    "clock": (
        "datetime.date.today datetime.now datetime.utcnow datetime.today date.today "
        "time.time time.localtime time.gmtime; datetime.datetime. now utcnow today"
    ),
    "host": (
        "getpass.getuser os.getlogin os.uname uuid.getnode psutil.process_iter "
        "psutil.net_if_addrs psutil.users; platform. node platform uname machine version; "
        "socket. gethostname getfqdn"
    ),
    "rmtree": "shutil.rmtree",
    "delete": "os. remove unlink rmdir removedirs",
    "sleep": "time.sleep asyncio.sleep",
    "right": "ctypes.windll.shell32.ShellExecuteW; os. setuid seteuid setgid setresuid",
    "input": (
        "input raw_input sys.stdin.read sys.stdin.readline sys.stdin.readlines getpass.getpass"
    ),
    "clean": (
        "len bool isinstance type range id callable hasattr hash print issubclass; os.path. "
        "exists isfile isdir getsize getmtime islink; hashlib. sha256 sha1 md5 sha512 "
        "blake2b"
    ),
    "getattr": "getattr",
    "import": "__import__ importlib.import_module importlib.__import__",
    "env": ("os.getenv os.environ.get os.environ.pop os.environ.setdefault os.getenvb environ.get"),
    "home": "pathlib.Path.home Path.home",
    "join": "os.path.join posixpath.join ntpath.join",
    "map": "map",
    "convert": "chr ord int reversed list tuple",
    "watch": "sys.gettrace",
    "setup": "setuptools.setup distutils.core.setup",
    "dup2": "os.dup2",
    "atexit": "atexit.register",
    "bind_all": "socket.socket(). bind listen accept",
    "encrypt": "cryptography.fernet.Fernet().encrypt Fernet().encrypt",
    "same": (
        "compile os.path.expanduser os.path.expandvars os.path.abspath os.path.realpath "
        "os.path.normpath os.fspath os.fsencode str bytes pathlib.Path Path "
        "pathlib.PosixPath pathlib.WindowsPath pathlib.PurePath bytearray repr"
    ),
}
"""What Python names do, by role; names after a word that ends in a dot begin with it."""


def _full_names(text: str) -> Iterator[str]:
    for part in text.split("; "):
        first, *rest = part.split()
        yield from (first + name for name in rest) if first.endswith(".") else (first, *rest)


ROLES = {
    **{f"{session}.{verb}": "network" for session in _SESSIONS.split() for verb in _VERBS.split()},
    **{name: role for role, text in _ROLES.items() for name in _full_names(text)},
}
"""Full dotted name of a callable -> what it does."""

METHODS = {
    method: role
    for role, methods in {
        "path_read": "read_text read_bytes",
        "path_write": "write_text write_bytes",
        "path_delete": "unlink rmdir",
        "stream_write": "write writelines",
        "receive": "recv recvfrom recv_into",
        "network": "sendall sendto sendmail send_message storbinary",
        "path_open": "open iterdir glob rglob",
        "maybe_network": "post put patch",
        "native": "VirtualAlloc RtlMoveMemory CreateThread",
        "encode": "hex",
        "debugger": "IsDebuggerPresent",
    }.items()
    for method in methods.split()
}
"""Method name -> what it does, where the object's type is not known."""

DANGEROUS = frozenset(
    name
    for name, role in ROLES.items()
    if role in {"code", "shell", "process", "unmarshal", "rmtree", "native"}
)
"""What nobody reaches by a computed name without wishing to hide it."""

DANGEROUS_MODULES = word_set(
    "os subprocess socket ctypes pty posix nt builtins __builtins__ marshal shutil _posixsubprocess"
)

INSIDES = word_set("__subclasses__ __globals__ __builtins__")
"""Attributes by which code gets out of what it was given, to everything the interpreter holds
(CO-13)."""

PAYLOAD_FREE = word_set(
    "headers auth cert cookies proxies timeout verify allow_redirects context stream"
)
"""Parts of a request in which a secret belongs, or which carry nothing."""

FOLDED_METHODS = word_set(
    "join replace lower upper strip lstrip rstrip encode decode format hex swapcase title "
    "removeprefix removesuffix "
    "expanduser resolve absolute joinpath as_posix"
)
"""Methods of constants that are worked out."""


MAX_TEXT_CHARS = 20_000
"""How much of one text is looked at."""

_SEP = r"[/\\]"
SAVED = re.compile(
    r"Login Data\b|key[34]\.db|logins\.json|Local Extension Settings|nkbihfbeogaeaoehlefnkodbefgpgknn"
    r"|exodus\.wallet|wallet\.dat"
)
"""Where browsers and wallets keep what opens everything."""
CRED_PATTERN = (
    rf"\.ssh(?:{_SEP}|$)|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws(?:{_SEP}|$)|\.gnupg\b|\.kube(?:{_SEP}|$)|\.docker{_SEP}config"
    rf"|\.netrc\b|\.git-credentials|\.pypirc|\.npmrc|gcloud{_SEP}|application_default_credentials|\.azure(?:{_SEP}|$)|/etc/shadow"
    rf"|\bLogin Data\b|cookies\.sqlite|logins\.json|\bkey[34]\.db|{_SEP}Cookies$|\bLocal State\b|[kK]eychains?{_SEP}|\.keychain"
    rf"|\.password-store"
    rf"|wallet\.dat|\.electrum|\bExodus\b|Local Extension Settings|solana{_SEP}id\.json|\.bitcoin\b|\.ethereum\b|{_SEP}keystore\b"
    rf"|Local Storage{_SEP}leveldb|kwallet|keyrings|\.config{_SEP}gh\b|\.vault-token|\.terraform\.d|rclone\.conf|\.pgpass|\.my\.cnf"
    rf"|\.(?:bash|zsh)_history|/proc/(?:self|\d{{1,7}})/environ|User Data{_SEP}Default|\.mozilla{_SEP}firefox|google-chrome"
    rf"|huggingface{_SEP}token|kaggle\.json|rclone\.conf|\.databrickscfg|\.s3cfg|\.cargo{_SEP}credentials"
    rf"|BraveSoftware|Firefox{_SEP}Profiles|MetaMask|\.config{_SEP}solana"
)
WEAK_PATTERN = (
    rf"(?:^|{_SEP}|\*)\.env(?:\.[a-z]{{1,12}})?$|\bcredentials\.json$|\bsecrets?\.(?:json|ya?ml|toml)$|\.pem$"
    rf"|\.(?:codex|claude|openclaw|clawdbot|moltbot|gemini|cursor){_SEP}\S{{0,60}}(?:auth|credential|token|\.env|openclaw\.json"
    rf"|clawdbot\.json)"
    r"|\bauth-profiles\.json"
)
START_PATTERN = (
    rf"\.(?:bashrc|zshrc|bash_profile|zprofile|profile|zshenv|bash_login|xprofile|xinitrc)\b|config\.fish|\bcrontab\b|cron\.(?:d"
    rf"|daily|hourly)\b"
    rf"|spool{_SEP}cron|LaunchAgents|LaunchDaemons|systemd{_SEP}(?:user|system)\b|{_SEP}autostart\b|Programs{_SEP}{{1,2}}Startup"
    rf"|Menu{_SEP}{{1,2}}Programs"
    rf"|CurrentVersion{_SEP}{{1,2}}Run|\brc\.local|authorized_keys|\.git{_SEP}hooks|/etc/(?:init\.d|profile|sudoers|passwd|hosts"
    rf"|ld\.so\.preload)\b"
    r"|\b(?:site|user)customize\.py|\.pth$"
)
AGENT_PATTERN = (
    r"\b(?:CLAUDE|AGENTS|GEMINI|SOUL|MEMORY|HEARTBEAT|IDENTITY)\.md\b|\.cursorrules|\.windsurfrules|copilot-instructions\.md"
    rf"|\.claude{_SEP}(?:settings|hooks|commands|skills|agents)|\.?mcp\.json\b|claude_desktop_config|\.cursor{_SEP}(?:rules|mcp"
    rf"|hooks)"
    rf"|\.codex{_SEP}(?:config|hooks|prompts)|\.(?:openclaw|clawdbot|moltbot){_SEP}"
)
WORK_PATTERN = (
    rf"(?:~|\$HOME|^){_SEP}?(?:Documents|Desktop|Pictures)(?:{_SEP}|$)|Library{_SEP}(?:Mail|Messages|Photos)|\.thunderbird|\.mbox\b"
    rf"|\.pst$|chats?\.db\b|messages\.db\b|contacts\.(?:vcf|db|sqlite|csv)|AddressBook|chat_history"
    rf"|\.claude{_SEP}(?:projects|history|transcripts)|\.codex{_SEP}(?:sessions|history)|transcript\.jsonl?|conversations?\.(?:jsonl?|log)"
)
DROP_PATTERN = (
    r"webhook\.site|requestbin|pipedream\.net|\boast\.(?:fun|pro|live|site|online|me)\b|interact\.sh|burpcollaborator"
    r"|oastify\.com|\bngrok\b"
    r"|serveo\.net|trycloudflare\.com|localtunnel|\bloca\.lt\b|transfer\.sh|\bfile\.io\b|\b0x0\.st\b|anonfiles|gofile\.io"
    r"|beeceptor|hookb\.in"
    r"|requestcatcher|dnslog|\bceye\.io|pastebin\.com|\bpaste\.ee|hastebin|\bix\.io\b|termbin|catbox\.moe"
    r"|tmpfiles\.org|bashupload"
    r"|\btemp\.sh\b|\.onion\b|duckdns\.org|no-ip\.\w{2,4}\b|ddns\.net"
)
CHAT_PATTERN = (
    r"discord(?:app)?\.com/api/webhooks|hooks\.slack\.com/services|api\.telegram\.org/bot"
)
META_PATTERN = r"169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200"
_IP = r"(?:https?|ftp|wss?|tcp)://(?:\d{1,3}\.){3}\d{1,3}(?=[:/]|$)|^(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?$"
_LOCAL_IP = re.compile(
    r"(?:127|10|0|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01])|255|203\.0\.113|198\.51\.100|192\.0\.2|8\.8"
    r"|1\.1\.1|1\.0\.0)\."
)


class TextKind(NamedTuple):
    """One kind of thing that a text may name. Where none of the words stands, the pattern need not
    be tried.
    """

    label: int
    pattern: re.Pattern[str]
    words: Texts


def _words(text: str) -> Texts:
    return tuple(text.split(","))


def _kind(label: int, pattern: str, words: str) -> TextKind:
    return TextKind(label, re.compile(pattern), _words(words))


KINDS = (
    _kind(
        CRED_PATH,
        CRED_PATTERN,
        ".ssh,id_rsa,id_ed,id_ec,id_dsa,.aws,.gnupg,.kube,.docker,.netrc,.git-cred,.pypirc,.npmrc,gcloud,default_cred,.azure,shadow,"
        "login data,cookies,logins.json,key3.db,key4.db,local "
        "state,keychain,.password-s,wallet,.electrum,exodus,"
        "extension settings,"
        "solana,.bitcoin,.ethereum,keystore,leveldb,keyrings,.config/gh,.config\\gh,.vault-t,.terraform,rclone,.pgpass,.my.cnf,"
        "_history,environ,user data,.mozilla,google-chrome,brave,firefox,metamask,huggingface,kaggle,databrickscfg,.s3cfg,.cargo",
    ),
    _kind(
        WEAK_PATH,
        WEAK_PATTERN,
        ".env,credential,secret,.pem,.codex,.claude,.openclaw,.clawdbot,.moltbot,.gemini,.cursor,auth-profiles",
    ),
    _kind(
        START_PATH,
        START_PATTERN,
        "bashrc,zshrc,profile,zshenv,_login,xinitrc,config.fish,cron,launchagents,launchdaemons,systemd,autostart,startup,programs,"
        "currentversion,rc.local,authorized_keys,.git/hooks,.git\\,init.d,sudoers,/etc/,customize,.pth",
    ),
    _kind(
        AGENT_PATH,
        AGENT_PATTERN,
        "claude,agents.md,gemini.md,soul.md,memory.md,heartbeat.md,identity.md,cursor,windsurf,copilot,mcp.json,.codex,.openclaw,.clawdbot,.moltbot",
    ),
    _kind(
        DROP_HOST,
        DROP_PATTERN,
        "webhook.site,requestbin,pipedream,oast,interact.sh,burpcoll,ngrok,serveo,trycloudflare,localtunnel,loca.lt,transfer.sh,file.io,"
        "0x0.st,anonfiles,gofile,beeceptor,hookb.in,requestcatcher,dnslog,ceye.io,pastebin,paste.ee,hastebin,ix.io,termbin,"
        "catbox,tmpfiles,bashupload,temp.sh,.onion,duckdns,no-ip,ddns.net",
    ),
    _kind(CHAT_HOST, CHAT_PATTERN, "/webhooks,hooks.slack,telegram"),
    _kind(METADATA, META_PATTERN, "169.254,metadata.google,100.100."),
    _kind(
        WORK_PATH,
        WORK_PATTERN,
        "documents,desktop,pictures,mail,thunderbird,.mbox,.pst,chat,contacts,addressbook,.claude,.codex,transcript,conversation,messages",
    ),
)
MINING_WORDS = _words(
    "stratum,xmrig,minerd,cpuminer,cryptonight,randomx,coinhive,mining.,donate-level,nicehash,ethminer"
)
WATCHER_WORDS = _words(
    "vmware,vbox,virtualbox,qemu,sandbox,sbiedll,wireshark,procmon,process "
    "hacker,processhacker,ollydbg,x64dbg,x32dbg,ida.exe,"
    "ida64.exe,idaq,cuckoo,joebox,fiddler,hyper-v,hyperv,parallels,tracerpid,xen"
)


def has_word(low: str, words: Texts) -> bool:
    """Tell whether one of the words stands in a text of small letters."""
    return any(map(low.__contains__, words))


def kinds_in(low: str) -> tuple[TextKind, ...]:
    """Give the kinds that a text of small letters, or any plain part of it, may name."""
    return tuple(kind for kind in KINDS if has_word(low, kind.words))


_DOTTED = re.compile(r"\d\.\d{1,3}\.\d")
_BARE_IP = re.compile(_IP)

MINING = re.compile(
    r"stratum\+(?:tcp|ssl)://\w|\b(?:xmrig|minerd|cpuminer|ethminer)(?:\.exe)?[\"']?[,\s]{1,3}[\"']?-"
    r"|[/\\](?:xmrig|minerd|cpuminer|ethminer)\b"
    r"|\bmining\.(?:subscribe|authorize|submit)\b|--donate-level|stratum\.\w{1,60}\.nicehash"
)
PIPED = re.compile(
    r"\b(?:curl|wget|fetch)\b[^\n|;]{0,300}\|\s{0,4}(?:sudo\s{1,4})?(?:ba|z|da|k)?sh\b|\b(?:curl"
    r"|wget)\b[^\n|;]{0,300}\|\s{0,4}(?:sudo\s{1,4})?(?:python3?|perl|ruby|node)\b"
    r"|\b(?:curl|wget)\b[^\n]{0,300}(?:&&|;)\s{0,4}(?:chmod\s{1,4}(?:\+x|[0-7]{3,4})|(?:ba)?sh\s|\./)"
    r"|(?:ba)?sh\s{1,4}-c\s{1,4}[\"']?\$\(\s{0,4}(?:curl|wget)\b[^\n)]{0,300}"
)
"""What is fetched and run in one line; grave where the address is no installer's."""
SHELL = re.compile(
    r"/dev/(?:tcp|udp)/|\bbase64\b\s{1,4}(?:-d|-D"
    r"|--decode)[^\n;]{0,40}\|\s{0,4}(?:ba|z)?sh\b"
    r"|\b(?:ba)?sh\s{1,4}-i\b|(?i:powershell)[^\n]{0,80}\s-(?i:e|ec|enc|encodedcommand)\b|\bmkfifo\b"
    r"|(?i:\biex\b|invoke-expression)[^\n]{0,200}(?i:downloadstring|downloadfile|downloaddata|\biwr\b|\birm\b|invoke-(?:web|rest))"
    r"|(?i:downloadstring|\biwr\b|\birm\b|invoke-(?:webrequest|restmethod))[^\n]{0,300}\|\s{0,4}(?i:iex\b|invoke-expression)"
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
STARTS = re.compile(
    r"\b(?:curl|wget)\s[^\n]{0,200}(?:\||&&|;|>|https?://)|urlopen|requests\.get|exec\(|base64|/dev/tcp/|\bnc\s|b64decode"
)
"""What a start-up place has no use for: something that fetches, decodes or hides."""
HIDDEN = re.compile(
    r"https?://|\b(?:import|exec|eval|subprocess|os\.system|__import__|socket)\b|/bin/(?:ba)?sh|\bcurl\s|\bwget\s|powershell"
    r"|\.ssh/|\.aws/|/etc/(?:passwd|shadow)|cmd\.exe"
    r"|\bignore (?:all )?(?:previous|prior)\b"
)


def labels(text: str, kinds: tuple[TextKind, ...] | None = None) -> int:
    """Tell which paths and hosts a text names, as labels."""
    found = 0
    for label, pattern, _ in kinds_in(text.lower()) if kinds is None else kinds:
        if pattern.search(text, 0, MAX_TEXT_CHARS):
            found |= label
    if _DOTTED.search(text, 0, MAX_TEXT_CHARS) and is_bare_ip(text):
        found |= BARE_IP
    return found


def is_bare_ip(text: str) -> bool:
    """Tell whether a text has an address with a number for a host, one that is not local or kept
    for examples.
    """
    for match in _BARE_IP.finditer(text[:MAX_TEXT_CHARS]):
        host = match[0].rpartition("/")[2]
        parts = host.partition(":")[0].split(".")
        if all(int(part) < 256 for part in parts) and not _LOCAL_IP.match(host):
            return True
    return False


def rules_of_command(command: str) -> list[str]:
    """Name the rules that a shell command breaks, as far as a look at its text tells."""
    text = command[:MAX_TEXT_CHARS]
    table = (
        ("SC338", SHELL),
        ("SC338", PIPED),
        ("SC309", PERSIST),
        ("SC311", WIPE),
        ("SC343", BLIND),
        ("SC339", RIGHTS),
        ("SC340", INSTALL),
        ("SC328", MINING),
    )
    found = {
        rule: match
        for rule, pattern in table
        if (match := pattern.search(text)) and not (pattern is PIPED and only_installs(match[0]))
    }
    return list(found)
