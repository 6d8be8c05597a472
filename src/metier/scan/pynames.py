"""Which Python names give, change, take or do what: the tables behind the taint walk."""

from __future__ import annotations

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
ENCODED = 1 << 25  # holds a variable of the environment that the code itself encoded

PATHS = CRED_PATH | WEAK_PATH | START_PATH | AGENT_PATH | FETCHED_PATH | SELF
CARRIED = CRED | WEAK | ENV_ALL | CLIP | FILE | HOST | PROC | SECRET_ENV
"""What makes a request an outflow."""


def _each(prefix: str, names: str) -> list[str]:
    return [prefix + name for name in names.split()]


_VERBS = "get post put patch delete head options request stream send"
_SESSIONS = (
    "requests requests.Session() requests.session() httpx httpx.Client() httpx.AsyncClient() aiohttp aiohttp.ClientSession() "
    "cloudscraper.create_scraper() urllib3 urllib3.PoolManager() curl_cffi.requests http.client.HTTPConnection() "
    "http.client.HTTPSConnection() httplib.HTTPConnection() httplib.HTTPSConnection() treq grequests"
)

_ROLES: dict[str, list[str]] = {
    "code": _each("", "exec eval execfile runpy.run_path runpy.run_module code.interact types.FunctionType")
    + _each("code.InteractiveInterpreter().", "runcode runsource")
    + _each("code.InteractiveConsole().", "runcode runsource push"),
    "shell": _each(
        "", "os.system os.popen os.popen2 os.popen3 os.startfile commands.getoutput commands.getstatusoutput subprocess.getoutput"
    )
    + _each("", "subprocess.getstatusoutput asyncio.create_subprocess_shell posix.system nt.system pexpect.spawn pexpect.run"),
    "process": _each("subprocess.", "run Popen call check_call check_output")
    + _each("os.", "execl execle execlp execlpe execv execve execvp execvpe posix_spawn posix_spawnp")
    + _each("os.", "spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe")
    + _each("", "pty.spawn asyncio.create_subprocess_exec _posixsubprocess.fork_exec"),
    "network": [f"{session}.{verb}" for session in _SESSIONS.split() for verb in _VERBS.split()]
    + _each("urllib.request.", "urlopen Request urlretrieve URLopener FancyURLopener")
    + _each("", "urllib.urlopen urllib.urlretrieve urllib2.urlopen urllib2.Request wget.download websocket.create_connection")
    + _each("", "websockets.connect xmlrpc.client.ServerProxy socket.create_connection telnetlib.Telnet asyncio.open_connection")
    + _each("socket.socket().", "connect connect_ex send sendall sendto")
    + _each("socket.create_connection().", "send sendall")
    + _each("smtplib.SMTP().", "sendmail send_message")
    + _each("smtplib.SMTP_SSL().", "sendmail send_message")
    + _each("ftplib.FTP().", "storbinary storlines retrbinary")
    + _each("paramiko.SSHClient().", "connect exec_command"),
    "lookup": _each("socket.", "gethostbyname gethostbyname_ex getaddrinfo")
    + _each("dns.resolver.", "resolve query")
    + _each("dns.resolver.Resolver().", "resolve query"),
    "decode": _each(
        "base64.", "b64decode b32decode b16decode b85decode a85decode urlsafe_b64decode standard_b64decode decodebytes decodestring"
    )
    + _each("binascii.", "unhexlify a2b_base64 a2b_hex")
    + _each("", "zlib.decompress gzip.decompress bz2.decompress lzma.decompress bytes.fromhex bytearray.fromhex codecs.decode")
    + _each(
        "", "html.unescape urllib.parse.unquote urllib.parse.unquote_plus urllib.unquote quopri.decodestring codecs.escape_decode"
    ),
    "encode": _each("base64.", "b64encode b32encode b16encode b85encode a85encode urlsafe_b64encode standard_b64encode encodebytes")
    + _each("", "binascii.hexlify binascii.b2a_base64 zlib.compress gzip.compress bz2.compress lzma.compress"),
    "decrypt": _each("", "cryptography.fernet.Fernet().decrypt Fernet().decrypt"),
    "unmarshal": _each("", "marshal.loads marshal.load types.CodeType"),
    "unpickle": [
        f"{m}.{f}" for m in _each("", "pickle cPickle _pickle dill cloudpickle joblib") for f in _each("", "load loads Unpickler")
    ],
    "native": _each(
        "ctypes.windll.kernel32.", "VirtualAlloc VirtualAllocEx RtlMoveMemory CreateThread CreateRemoteThread WriteProcessMemory"
    )
    + _each("ctypes.", "CFUNCTYPE() memmove"),
    "open": _each("", "open io.open codecs.open os.open io.FileIO os.fdopen aiofiles.open gzip.open"),
    "reader": _each("shutil.", "copy copy2 copyfile copytree make_archive")
    + _each("", "sqlite3.connect linecache.getlines fileinput.input os.listdir os.scandir os.walk glob.glob glob.iglob"),
    "tls_off": _each("ssl.", "_create_unverified_context"),
    "own_secret": ["keyring.get_password"],
    "secret": _each("", "win32crypt.CryptUnprotectData browser_cookie3.load browser_cookie3.chrome browser_cookie3.firefox"),
    "spy": _each(
        "",
        "pyperclip.paste PIL.ImageGrab.grab PIL.ImageGrab.grabclipboard pyautogui.screenshot mss.mss mss.mss().grab mss.mss().shot",
    )
    + _each(
        "",
        "pynput.keyboard.Listener pynput.mouse.Listener keyboard.on_press keyboard.hook keyboard.record "
        "win32clipboard.GetClipboardData",
    )
    + _each("", "pyxhook.HookManager pyHook.HookManager clipboard.paste pandas.read_clipboard sounddevice.rec ImageGrab.grab"),
    "clock": _each("datetime.datetime.", "now utcnow today")
    + _each("", "datetime.date.today datetime.now datetime.utcnow datetime.today date.today time.time time.localtime time.gmtime"),
    "host": _each("platform.", "node platform uname machine version")
    + _each("socket.", "gethostname getfqdn")
    + _each("", "getpass.getuser os.getlogin os.uname uuid.getnode psutil.process_iter psutil.net_if_addrs psutil.users"),
    "rmtree": _each("", "shutil.rmtree"),
    "delete": _each("os.", "remove unlink rmdir removedirs"),
    "sleep": _each("", "time.sleep asyncio.sleep"),
    "right": _each("os.", "setuid seteuid setgid setresuid") + _each("", "ctypes.windll.shell32.ShellExecuteW"),
    "input": _each("", "input raw_input sys.stdin.read sys.stdin.readline sys.stdin.readlines getpass.getpass"),
    "clean": _each("", "len bool isinstance type range id callable hasattr hash print issubclass")
    + _each("os.path.", "exists isfile isdir getsize getmtime islink")
    + _each("hashlib.", "sha256 sha1 md5 sha512 blake2b"),
    "getattr": ["getattr"],
    "import": _each("", "__import__ importlib.import_module importlib.__import__"),
    "env": _each("", "os.getenv os.environ.get os.environ.pop os.environ.setdefault os.getenvb environ.get"),
    "home": _each("", "pathlib.Path.home Path.home"),
    "join": _each("", "os.path.join posixpath.join ntpath.join"),
    "map": ["map"],
    "convert": _each("", "chr ord int reversed list tuple"),
    "watch": ["sys.gettrace"],
    "setup": _each("", "setuptools.setup distutils.core.setup"),
    "dup2": ["os.dup2"],
    "bind_all": _each("socket.socket().", "bind listen accept"),
    "encrypt": _each("", "cryptography.fernet.Fernet().encrypt Fernet().encrypt"),
    "same": _each(
        "",
        "compile os.path.expanduser os.path.expandvars os.path.abspath os.path.realpath os.path.normpath "
        "os.fspath os.fsencode str bytes",
    )
    + _each("", "pathlib.Path Path pathlib.PosixPath pathlib.WindowsPath pathlib.PurePath bytearray repr"),
}

ROLES: dict[str, str] = {name: role for role, names in _ROLES.items() for name in names}
"""Full dotted name of a callable -> what it does."""

METHODS: dict[str, str] = {
    **dict.fromkeys(("read_text", "read_bytes"), "path_read"),
    **dict.fromkeys(("write_text", "write_bytes"), "path_write"),
    **dict.fromkeys(("unlink", "rmdir"), "path_delete"),
    **dict.fromkeys(("write", "writelines"), "stream_write"),
    **dict.fromkeys(("recv", "recvfrom", "recv_into"), "receive"),
    **dict.fromkeys(("sendall", "sendto", "sendmail", "send_message", "storbinary"), "network"),
    **dict.fromkeys(("open", "iterdir", "glob", "rglob"), "path_open"),
    **dict.fromkeys(("post", "put", "patch"), "maybe_network"),
    "VirtualAlloc": "native",
    "RtlMoveMemory": "native",
    "CreateThread": "native",
    "hex": "encode",
    "IsDebuggerPresent": "debugger",
}
"""Method name -> what it does, where the object's type is not known."""

DANGEROUS = frozenset(name for role in ("code", "shell", "process", "unmarshal", "rmtree", "native") for name in _ROLES[role])
"""What nobody reaches by a computed name without wishing to hide it."""

DANGEROUS_MODULES = frozenset(
    _each("", "os subprocess socket ctypes pty posix nt builtins __builtins__ marshal shutil _posixsubprocess")
)

INSIDES = frozenset(_each("", "__subclasses__ __globals__ __builtins__"))
"""Attributes by which code gets out of what it was given, to everything the interpreter holds (CO-13)."""

PAYLOAD_FREE = frozenset(_each("", "headers auth cert cookies proxies timeout verify allow_redirects context stream"))
"""Parts of a request in which a secret belongs, or which carry nothing."""

FOLDED_METHODS = frozenset(
    _each(
        "",
        "join replace lower upper strip lstrip rstrip encode decode format hex swapcase title removeprefix removesuffix "
        "expanduser resolve absolute joinpath as_posix",
    )
)
"""Methods of constants that are worked out."""
