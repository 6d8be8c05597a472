"""What Ruby, PHP, Perl, Lua, batch, AppleScript and compiled languages may do (SC470 to SC489),
with the patterns that show it.
"""

from __future__ import annotations

from metier.scan.languages.tokens import pattern
from metier.scan.model import READ_CODE_HINT, REMOVE_HINT, ScanRule

RULES = (
    ScanRule(
        "SC470",
        "low",
        "execution",
        "The script starts other programs",
        "A child process can do whatever the user can",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC471",
        "medium",
        "execution",
        "The script evaluates text as code",
        "Text that becomes code can be anything at run time",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC472",
        "critical",
        "execution",
        "The script runs what it has downloaded",
        "Whoever holds the other end decides what runs here",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC473",
        "critical",
        "obfuscation",
        "The script runs code that it decodes first",
        "Encoding what is then run serves to hide it",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC474",
        "info",
        "network",
        "The script talks to the network",
        "Data can leave, and instructions can arrive",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC475",
        "medium",
        "execution",
        "The script rebuilds objects from untrusted bytes",
        "Such bytes can run code as they are read",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC476",
        "medium",
        "credential",
        "The script reads a place where credentials are kept",
        "Keys, wallets, browser profiles and tokens open everything the user has",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC477",
        "critical",
        "exfiltration",
        "The script sends credentials or the environment to the network",
        "What was read from a private place leaves the machine",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC478",
        "critical",
        "execution",
        "The script gives a shell to a remote host",
        "A reverse shell hands over the machine",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC479",
        "high",
        "social",
        "The script asks for a password in a window that it draws itself",
        "The system asks for passwords by itself; this window keeps them",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC480",
        "medium",
        "persistence",
        "The script writes where programs are started from",
        "What is written there runs again after the skill is gone",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC481",
        "medium",
        "persistence",
        "The script changes the agent's own instructions, settings or memory",
        "The change outlives the skill and steers every later session",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC482",
        "high",
        "execution",
        "The script uses a system program to load code from afar",
        "These programs are trusted by the system, which is why malware uses them",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC483",
        "high",
        "exfiltration",
        "The script talks to a request catcher, a tunnel, a paste site or a file drop",
        "Such hosts are made to receive data without an owner who can be asked",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC484",
        "high",
        "destructive",
        "The script deletes disks, backups or the user's folder",
        "What is deleted is not the skill's own",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC485",
        "info",
        "credential",
        "The script reads a secret from the environment",
        "The value must not go further than its service",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC486",
        "high",
        "execution",
        "The page takes commands from whoever calls it",
        "A web shell hands over the machine",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC487",
        "medium",
        "network",
        "The script talks to a bare address",
        "A service with an owner has a name; a number is quickly changed",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC488",
        "critical",
        "mining",
        "The script mines cryptocurrency",
        "The user pays for the power",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC489",
        "high",
        "obfuscation",
        "The script hides its words",
        "Carets, codes and pieces serve to escape a reader and a search",
        REMOVE_HINT,
    ),
)

_HTTP_RUBY = r"(?:net::http|open-uri|uri\.open|uri\.parse|httparty|faraday|restclient|typhoeus)"
_CALL = r"(?<![\w.$>:])"  # not a method of something else
_FETCH_PIPE = r"\b(?:curl|wget)\b[^|;&\n]{0,300}\|\s{0,4}(?:sudo\s{1,4})?(?:ba|z|da|k)?(?:sh|python3?|perl|ruby|php)\b"

EVERY = (
    pattern("SC472", "curl wget", _FETCH_PIPE, code=False),
    pattern(
        "SC473",
        "base64",
        r"base64\s{1,4}(?:-d|--decode)\b[^|\n]{0,80}\|\s{0,4}(?:ba|z)?sh\b",
        code=False,
    ),
    pattern(
        "SC478",
        "/dev/tcp/ nc ncat",
        r"/dev/tcp/|\b(?:nc|ncat|netcat)\b[^|;\n]{0,60}\s-[a-z]{0,4}[ec]\s",
        code=False,
    ),
    pattern(
        "SC484",
        "rm",
        r"\brm\s{1,4}-[a-z]{1,4}\s{1,4}(?:~/?|/|/\*|\$home/?)(?=[\s\x03;&|]|$)",
        code=False,
    ),
    pattern(
        "SC487",
        "://",
        r"\b(?:https?|wss?|tcp)://(?!127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\."
        r"|169\.254\.)\d{1,3}(?:\.\d{1,3}){3}\b",
        code=False,
    ),
    pattern("SC488", "stratum xmrig", r"stratum\+(?:tcp|ssl)://|\bxmrig\b", code=False),
)

RUBY = (
    pattern(
        "SC470",
        "system exec spawn popen \x04 open3 syscall",
        rf"\x04|{_CALL}(?:system|exec|spawn|syscall)\b ?\(?\s?[\x02\w\[\"]|\bio\.popen\b|\bopen3\.\w+"
        r"|kernel\.(?:system|exec|spawn|`)|process\.spawn|\bpty\.spawn",
    ),
    pattern("SC470", "open", rf"{_CALL}open ?\(? ?\x02\|"),
    pattern(
        "SC471",
        "eval",
        rf"{_CALL}(?:instance_|class_|module_)?eval\b ?\(?\s?(?!do\b|\{{)|\b(?:instance_eval|class_eval|module_eval) ?\(",
    ),
    pattern("SC472", "eval", rf"\b(?:instance_|class_)?eval\b ?\(?[^\n;]{{0,120}}\b{_HTTP_RUBY}"),
    pattern(
        "SC472",
        "eval",
        rf"(\w{{1,40}}) ?= ?[^\n;]{{0,120}}\b{_HTTP_RUBY}",
        then=r"\b(?:eval|system|exec)\b ?\(? ?{0}\b",
    ),
    pattern(
        "SC473",
        "base64 unpack decode64",
        r"\b(?:eval|system|exec)\b ?\(?[^\n;]{0,120}(?:base64\.(?:strict_|urlsafe_)?decode64|\.unpack1? ?\()",
    ),
    pattern(
        "SC473",
        "base64 unpack decode64",
        r"(\w{1,40}) ?= ?[^\n;]{0,120}(?:base64\.(?:strict_|urlsafe_)?decode64|\.unpack1? ?\()",
        then=r"\b(?:eval|system|exec)\b ?\(? ?{0}\b",
    ),
    pattern(
        "SC474",
        "http faraday restclient tcpsocket open-uri typhoeus",
        rf"\b{_HTTP_RUBY}\b|\b(?:tcpsocket|udpsocket)\b",
    ),
    pattern("SC475", "marshal yaml", r"\bmarshal\.load\b|\byaml\.(?:unsafe_load|load) ?\("),
    pattern(
        "SC478",
        "tcpsocket",
        r"\btcpsocket\.(?:new|open)\b",
        then=r"/bin/(?:ba|z)?sh|\bexec\b|\bpopen\b|reopen",
    ),
    pattern(
        "SC485",
        "env",
        r"\benv ?(?:\[|\.fetch ?\() ?\x02\w{0,40}(?:token|secret|password|api_?key|access_key|private_key)",
    ),
)

PHP = (
    pattern(
        "SC470",
        "system exec passthru popen proc_open pcntl_exec \x04",
        rf"\x04|{_CALL}(?:system|exec|shell_exec|passthru|popen|proc_open|pcntl_exec) ?\(",
    ),
    pattern(
        "SC471",
        "eval assert create_function preg_replace",
        rf"{_CALL}(?:eval|create_function) ?\(|{_CALL}assert ?\( ?[\x02$]"
        r"|preg_replace ?\( ?\x02/[^\x03]{1,120}/[a-z]{0,4}e[a-z]{0,3}\x03",
    ),
    pattern(
        "SC472",
        "file_get_contents curl_exec http",
        rf"{_CALL}(?:eval|assert|include|include_once|require"
        r"|require_once)\b ?\(?[^\n;]{0,120}(?:file_get_contents ?\( ?\x02https?:|curl_exec|\x02https?:)",
    ),
    pattern(
        "SC472",
        "file_get_contents curl_exec",
        r"(\$\w{1,40}) ?= ?[^\n;]{0,80}(?:file_get_contents ?\( ?\x02https?:|curl_exec)",
        then=r"\b(?:eval|assert|system|exec|shell_exec) ?\( ?{0}\b",
    ),
    pattern(
        "SC473",
        "base64_decode gzinflate gzuncompress str_rot13 hex2bin",
        rf"{_CALL}(?:eval|assert|system|exec|shell_exec|create_function) ?\([^\n;]{{0,60}}\b(?:base64_decode"
        r"|gzinflate|gzuncompress|str_rot13|hex2bin|convert_uudecode)\b",
    ),
    pattern(
        "SC473",
        "base64_decode gzinflate hex2bin",
        r"(\$\w{1,40}) ?= ?[^\n;]{0,80}\b(?:base64_decode|gzinflate|hex2bin|str_rot13)\b",
        then=r"\b(?:eval|assert|system|exec|shell_exec) ?\( ?{0}\b",
    ),
    pattern(
        "SC474",
        "curl_ file_get_contents fsockopen stream_socket",
        r"\bcurl_(?:init|exec)\b|\bfile_get_contents ?\( ?\x02https?:|\b(?:fsockopen|stream_socket_client"
        r"|pfsockopen)\b|\bguzzlehttp\b",
    ),
    pattern("SC475", "unserialize", rf"{_CALL}unserialize ?\("),
    pattern(
        "SC478",
        "fsockopen",
        r"\bfsockopen ?\(",
        then=r"\b(?:proc_open|exec|shell_exec|popen)\b|/bin/(?:ba)?sh",
    ),
    pattern(
        "SC485",
        "getenv $_env",
        r"(?:\bgetenv ?\( ?|\$_env ?\[ ?)\x02\w{0,40}(?:token|secret|password|api_?key)",
    ),
    pattern(
        "SC486",
        "$_get $_post $_request $_cookie",
        rf"{_CALL}(?:eval|assert|system|exec|shell_exec|passthru|popen|include"
        r"|require)\b ?\(?[^\n;]{0,40}\$_(?:get|post|request|cookie)\b",
    ),
    pattern("SC486", "$_get $_post $_request", r"\$_(?:get|post|request)\[[^\]\n]{1,40}\] ?\("),
)

PERL = (
    pattern(
        "SC470",
        "system exec \x04 open",
        rf"\x04|{_CALL}(?:system|exec)\b ?\(?\s?[\x02$@]|\bopen ?\(?[^\n;]{{0,60}}\x02(?:-\||\|-)\x03",
    ),
    pattern("SC471", "eval", rf"{_CALL}eval\b ?\(? ?[\x02$]"),
    pattern(
        "SC472",
        "lwp http",
        r"\b(?:eval|system|exec)\b[^\n;]{0,80}\b(?:lwp::\w+|get ?\( ?\x02https?:)",
    ),
    pattern(
        "SC473",
        "decode_base64 unpack pack",
        r"\b(?:eval|system|exec)\b ?\(?[^\n;]{0,80}\b(?:decode_base64|unpack|pack) ?\(",
    ),
    pattern(
        "SC474",
        "lwp http::tiny io::socket mojo",
        r"\b(?:lwp::\w+|http::tiny|io::socket(?:::\w+)?|mojo::useragent)\b",
    ),
    pattern(
        "SC478",
        "socket",
        r"\b(?:io::socket::inet|socket ?\()",
        then=r"/bin/(?:ba)?sh|open ?\( ?stdin",
    ),
    pattern("SC475", "storable", r"\b(?:thaw|retrieve) ?\("),
    pattern("SC485", "$env", r"\$env ?\{ ?\x02?\w{0,40}(?:token|secret|password|api_?key)"),
)

LUA = (
    pattern("SC470", "os.execute io.popen", r"\b(?:os\.execute|io\.popen) ?\(?"),
    pattern("SC471", "loadstring load dofile", rf"{_CALL}(?:loadstring|load) ?\("),
    pattern(
        "SC472",
        "http",
        r"\b(?:loadstring|load) ?\([^\n;]{0,80}(?:http\.request|httpget|game:httpget)",
    ),
    pattern(
        "SC473",
        "base64 unb64 string.char",
        r"\b(?:loadstring|load) ?\([^\n;]{0,80}(?:base64|unb64|string\.char|b64)",
    ),
    pattern(
        "SC474",
        "socket http",
        r"\b(?:socket\.http|http\.request|socket\.tcp|require ?\(? ?\x02socket)",
    ),
)

BATCH = (
    pattern(
        "SC470",
        "start powershell wscript cscript",
        r"(?:^|[\n&|(])\s{0,8}@?(?:start|powershell|pwsh|wscript|cscript|cmd)(?:\.exe)?\b",
    ),
    pattern(
        "SC472",
        "powershell",
        r"\bpowershell(?:\.exe)?\b[^\n]{0,300}\b(?:iex|invoke-expression)\b[^\n]{0,200}\b(?:downloadstring|iwr"
        r"|irm|invoke-webrequest)\b|\bpowershell(?:\.exe)?\b[^\n]{0,300}\b(?:downloadstring|iwr|irm"
        r"|invoke-webrequest)\b[^\n]{0,200}\b(?:iex|invoke-expression)\b",
        code=False,
    ),
    pattern(
        "SC473",
        "-e",
        r"\bpowershell(?:\.exe)?\b[^\n]{0,120}\s-e(?:nc|c|ncodedcommand)?\s{1,3}[a-z0-9+/=]{16}",
    ),
    pattern(
        "SC474",
        "curl wget bitsadmin invoke-webrequest",
        r"\b(?:curl|wget|bitsadmin)(?:\.exe)?\b|\binvoke-webrequest\b",
    ),
    pattern(
        "SC480",
        "reg schtasks startup",
        r"\breg(?:\.exe)?\s{1,3}add\b[^\n]{0,120}currentversion[\\/]{1,2}run"
        r"|\bschtasks(?:\.exe)?\b[^\n]{0,40}/create\b|\b(?:copy|xcopy|move)\b[^\n]{0,160}programs\\startup"
        r"|\bsc(?:\.exe)?\s{1,3}create\b",
    ),
    pattern(
        "SC482",
        "certutil bitsadmin mshta regsvr32 rundll32",
        r"\b(?:certutil|bitsadmin|mshta|regsvr32|rundll32)(?:\.exe)?\b[^\n]{0,200}(?:https?://|/transfer"
        r"|-decode\b|javascript:|vbscript:)",
    ),
    pattern(
        "SC484",
        "vssadmin format del rd rmdir",
        r"\bvssadmin(?:\.exe)?\s{1,3}delete\b|\bformat\s{1,3}[c-z]:|\b(?:del|rd"
        r"|rmdir)\b[^\n]{0,40}/s\b[^\n]{0,40}(?:c:\\(?:\s|\*|users|windows|$)|%userprofile%(?:\\\*)?(?:\s|\x03"
        r"|$))",
    ),
)

APPLESCRIPT = (
    pattern("SC470", "shell", r"\bdo shell script\b"),
    pattern("SC471", "run", r"\brun script\b"),
    pattern("SC474", "curl", r"\bdo shell script \x02[^\x03]{0,80}\bcurl\b"),
    pattern("SC479", "hidden", r"\bdisplay dialog\b[^\n]{0,400}\bhidden answer\b(?! false)"),
    pattern(
        "SC480",
        "login launchagents",
        r"\bmake (?:new )?login item\b|\bdo shell script \x02[^\x03]{0,200}(?:launchctl|library/launchagents)",
    ),
)

CURLY = (
    pattern(
        "SC470",
        "exec.command command::new processbuilder getruntime process.start os/exec",
        r"\bexec\.command(?:context)?\b|\bcommand ?:: ?new\b|\bprocessbuilder\b|\bgetruntime ?\( ?\) ?\.exec\b"
        r"|\bprocess\.start ?\(",
    ),
    pattern(
        "SC472",
        "exec.command",
        r"\bexec\.command ?\([^\n;]{0,120}\b(?:curl|wget)\b[^\n;|]{0,120}\|\s{0,3}(?:ba)?sh",
    ),
    pattern(
        "SC474",
        "http net.dial reqwest tcpstream urlsession httpclient okhttp",
        r"\bhttp\.(?:get|post|newrequest|postform)\b|\bnet\.dial\b|\breqwest\b|\btcpstream\b|\burlsession\b"
        r"|\bhttpclient\b|\bokhttpclient\b",
    ),
    pattern(
        "SC475", "objectinputstream binaryformatter", r"\bobjectinputstream ?\(|\bbinaryformatter\b"
    ),
    pattern(
        "SC478",
        "net.dial tcpstream socket",
        r"\b(?:net\.dial ?\(|tcpstream ?:: ?connect|new socket ?\()",
        then=r"/bin/(?:ba)?sh|\x02cmd(?:\.exe)?\x03|\bpowershell",
    ),
    pattern(
        "SC485",
        "getenv env::var",
        r"\b(?:os\.getenv|system\.getenv|env::var|getenvironmentvariable) ?\( ?\x02\w{0,40}(?:token|secret|password|api_?key)",
    ),
)
