"""Lists the rules for JavaScript and TypeScript (SC400 to SC449), and the names by which they reach
programs, files, the network and their own evaluator.
"""

from __future__ import annotations

import re

from metier.scan.model import READ_CODE_HINT, REMOVE_HINT, ScanRule, word_set

RULES = (
    ScanRule(
        "SC400",
        "low",
        "execution",
        "The script starts other programs",
        "A child process can do whatever the user can",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC401",
        "low",
        "execution",
        "The script loads a module whose name is computed",
        "A name that is only known when it runs hides which code is loaded",
        "Check what the name can be",
    ),
    ScanRule(
        "SC402",
        "high",
        "evasion",
        "The script hides that it starts programs or evaluates code",
        "A name put together from pieces, or reached by a back door, is meant to escape a reader",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC403",
        "medium",
        "execution",
        "The script evaluates text as code",
        "Text that becomes code can be anything at run time",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC404",
        "critical",
        "obfuscation",
        "The script runs code that it decodes first",
        "Encoding what is then run serves to hide it",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC405",
        "critical",
        "execution",
        "The script runs what it has downloaded",
        "Whoever holds the other end decides what runs here",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC406",
        "critical",
        "execution",
        "The script gives a shell a command that downloads and runs code",
        "The code that runs is not the code that was read",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC407",
        "info",
        "network",
        "The script talks to the network",
        "Data can leave, and instructions can arrive",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC408",
        "low",
        "network",
        "The script opens a raw socket",
        "Traffic outside HTTP is seldom needed and hard to follow",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC409",
        "medium",
        "credential",
        "The script takes the whole environment",
        "The environment holds every key of the session, not only those that the task needs",
        "Read only the variables that are needed",
    ),
    ScanRule(
        "SC410",
        "info",
        "credential",
        "The script reads a secret from the environment",
        "The value must not go further than its service",
        "See that the secret goes only to the service that it belongs to",
    ),
    ScanRule(
        "SC411",
        "medium",
        "credential",
        "The script reads a place where credentials are kept",
        "Keys, wallets, browser profiles and tokens open everything the user has",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC412",
        "low",
        "credential",
        "The script reads an environment file",
        "Such a file holds a project's secrets",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC413",
        "critical",
        "exfiltration",
        "The script sends credentials or private data to the network",
        "What was read from a private place leaves the machine",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC414",
        "high",
        "exfiltration",
        "The script talks to a request catcher, a tunnel, a paste site or a file drop",
        "Such hosts are made to receive data without an owner who can be asked",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC415",
        "medium",
        "exfiltration",
        "The script posts to a chat webhook or bot",
        "A webhook receives data under its maker's account",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC416",
        "medium",
        "persistence",
        "The script writes where programs are started from",
        "What is written there runs again after the skill is gone",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC417",
        "medium",
        "persistence",
        "The script changes the agent's own instructions, settings or memory",
        "The change outlives the skill and steers every later session",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC418",
        "high",
        "obfuscation",
        "The script went through an obfuscator",
        "Names as machines make them and strings in a table hide what the code does",
        "Ask for the source",
    ),
    ScanRule(
        "SC419",
        "medium",
        "obfuscation",
        "The script spells text by character codes",
        "Text that is not written out escapes a reader and a search",
        "Decode it and read it",
    ),
    ScanRule(
        "SC420",
        "low",
        "obfuscation",
        "The script is one very long line",
        "Packed code cannot be read",
        "Ask for the source",
    ),
    ScanRule(
        "SC421",
        "high",
        "exfiltration",
        "The script sends cookies, local storage or the clipboard to the network",
        "Sessions and whatever was copied leave the browser",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC422",
        "low",
        "credential",
        "The script reads the clipboard",
        "People copy passwords",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC423",
        "high",
        "credential",
        "The script records key strokes",
        "What is typed includes passwords",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC424",
        "medium",
        "credential",
        "The script handles a wallet's keys or asks it to sign",
        "Whoever has the recovery phrase has the money",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC425",
        "medium",
        "evasion",
        "The script reaches the evaluator through an object's constructor",
        "This way round exists to get out of a sandbox",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC426",
        "medium",
        "supply",
        "The package runs a script when it is installed",
        "Installing is enough for the code to run",
        "Install with scripts switched off, and read the script",
    ),
    ScanRule(
        "SC427",
        "high",
        "evasion",
        "The script waits for a date before it acts",
        "Code that sleeps until a day passes its tests and acts later",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC428",
        "critical",
        "execution",
        "The script gives a shell to a remote host",
        "A reverse shell hands over the machine",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC429",
        "high",
        "exfiltration",
        "The script puts data into host names that it looks up",
        "Name lookups carry data past a firewall",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC430",
        "high",
        "destructive",
        "The script deletes the home folder, the disk or a root folder",
        "What is deleted is not the skill's own",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC431",
        "critical",
        "mining",
        "The script mines cryptocurrency",
        "The user pays for the power",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC432",
        "medium",
        "evasion",
        "The script leaves a hidden process behind",
        "A detached process without output runs on unseen",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC433",
        "medium",
        "exfiltration",
        "The script sends who and where it is",
        "Host, user and network names tell an attacker which machine was reached",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC434",
        "info",
        "execution",
        "The script writes files",
        "Know where they go",
        "See that it writes only where its task says",
    ),
    ScanRule(
        "SC435",
        "medium",
        "network",
        "The script talks to a bare address",
        "A service with an owner has a name; a number is quickly changed",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC437",
        "high",
        "exfiltration",
        "The script sends data to a fixed address in silence",
        "Nothing is done with the answer, and a failure is kept quiet",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC438",
        "high",
        "exfiltration",
        "The script sends the user's work or words to a fixed address",
        "The data is the user's, the address the skill's own choice",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC436",
        "low",
        "exfiltration",
        "The script sends a secret of the environment inside an address",
        "A key in a URL is logged on the way and goes to whoever runs the host",
        READ_CODE_HINT,
    ),
)


# --- the names that matter

WORTH = re.compile(
    r"require|import|eval|Function|process|fetch|axios|XMLHttp|WebSocket|Beacon|cookie|Storage|clipboard|constructor|_0x|\\x|\\u00"
    r"|fromCharCode|atob|ethereum|mnemonic|install\"|global|window|this\[|self\[|stratum|key(?:down|press"
    r"|up)|https?:|setTimeout|vm\."
)
MODULES = word_set(
    "child_process fs fs/promises fs-extra os net tls dgram dns dns/promises http https "
    "http2 vm axios got node-fetch undici request superagent ws rimraf shelljs execa path "
    "util needle"
)
BARE_NAMES = {
    **dict.fromkeys(
        ("readFile", "readFileSync", "writeFile", "writeFileSync", "appendFile", "appendFileSync"),
        "fs",
    ),
    **dict.fromkeys(("createReadStream", "readdirSync", "copyFileSync", "rmSync"), "fs"),
    **dict.fromkeys(
        ("execSync", "spawn", "spawnSync", "execFile", "execFileSync"), "child_process"
    ),
    **dict.fromkeys(("homedir", "hostname", "userInfo", "networkInterfaces"), "os"),
}
"""Names that stand for a module's own where the text, being a part of a script, imports nothing."""
RUN = re.compile(
    r"^(?:child_process\.(?:exec|execSync|spawn|spawnSync|execFile|execFileSync|fork)|execa(?:\.\w+)?"
    r"|shelljs\.exec|Bun\.spawn|Deno\.run)$"
)
EVAL = re.compile(
    r"(?:^|^(?:window|globalThis|global|self|this|top)\.)(?:eval|Function)$|^vm\.(?:runIn\w+|Script|compileFunction)$|\._compile$"
)
SEND = re.compile(
    r"^(?:(?:window|globalThis|self)\.)?(?:fetch|node-fetch|undici\.(?:fetch|request)|axios(?:\.\w+)?"
    r"|got(?:\.\w+)?|request(?:\.\w+)?"
    r"|superagent\.\w+|needle(?:\.\w+)?|https?2?\.(?:request|get|connect)|\$\.(?:ajax|post|get|getJSON)|navigator\.sendBeacon"
    r"|XMLHttpRequest|WebSocket|EventSource|ws)$"
)
SOCKET = re.compile(
    r"^(?:net\.(?:connect|createConnection|Socket)|tls\.connect|dgram\.createSocket)$"
)
_FS = r"^fs(?:/promises|-extra)?(?:\.promises)?\."
READ = re.compile(
    _FS
    + r"(?:readFile|readFileSync|createReadStream|copyFile|copyFileSync|readdir|readdirSync|open|openSync)$"
    r"|^Bun\.file$|^Deno\.read\w+$"
)
WRITE = re.compile(
    _FS
    + r"(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream|copyFile|copyFileSync|symlinkSync|outputFile\w*)$"
    r"|^Deno\.write\w+$"
)
DELETE = re.compile(
    _FS + r"(?:rm|rmSync|rmdir|rmdirSync|remove|removeSync|emptyDir\w*)$|^rimraf(?:\.\w+)?$"
)
LOOKUP = re.compile(r"^dns(?:/promises)?(?:\.promises)?\.(?:lookup|resolve\w*)$")
HOST = re.compile(r"^os\.(?:hostname|userInfo|networkInterfaces)$")
FETCH_RUN = re.compile(
    r"\b(?:curl|wget|iwr|irm|invoke-webrequest)\b[^|;&\n]{0,300}\|\s{0,4}(?:sudo\s{1,4})?(?:ba|z|da"
    r"|k)?(?:sh|python3?|node|perl|ruby|php|iex)\b"
    r"|\b(?:ba|z)?sh\s{1,4}(?:-c\s{1,4})?['\"]?(?:<\(|\$\()\s{0,4}(?:curl|wget)|base64\s{1,4}(?:-d|-D"
    r"|--decode)[^|\n]{0,80}\|\s{0,4}(?:ba|z)?sh"
)
SENDER = re.compile(r"\b(?:curl|wget|nc|ncat|scp|ftp|nslookup|dig)\b")
SHELL_OUT = re.compile(r"/dev/tcp/|\b(?:nc|ncat|netcat)\b[^|;\n]{0,60}\s-[a-z]{0,4}[ec]\s")
SHELLS = re.compile(r"^(?:/bin/|/usr/bin/)?(?:ba|z|da)?sh$|^cmd(?:\.exe)?$|^powershell(?:\.exe)?$")
MINER = re.compile(
    r"stratum\+(?:tcp|ssl)://|\bxmrig\b|coinhive|\bcryptonight\b|\brandomx\b", re.IGNORECASE
)
BARE = re.compile(
    r"\b(?:https?|wss?|tcp)://(?!127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.)"
    r"\d{1,3}(?:\.\d{1,3}){3}\b"
)
WALLET = re.compile(
    r"^(?:mnemonic|seed_?phrase|recovery_?phrase|secret_?recovery_?phrase|private_?key)$",
    re.IGNORECASE,
)
WAITS = re.compile(
    r"(?:new\s{1,3}Date\(\)|Date\.now\(\)|\.getTime\(\))[^;{}\n]{0,30}[<>]=?\s{0,3}(?:\+\s{0,2})?"
    r"(?:new\s{1,3}Date\(\s{0,3}['\"]?\d{4}|Date\.(?:parse|UTC)\(['\"]?\d{4}|1[6-9]\d{8,11}\b)"
)
MACHINE_NAME = re.compile(r"\b_0x[0-9a-f]{3,8}\b")
HEX_RUN = re.compile(r"(?:\\x[0-9a-fA-F]{2}){12}")
INSTALLS = re.compile(r"^(?:pre|post)?install$|^prepare$")
