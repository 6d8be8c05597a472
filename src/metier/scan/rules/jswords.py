"""The names by which JavaScript reaches programs, files, the network and its own evaluator."""

from __future__ import annotations

import re

WORTH = re.compile(
    r"require|import|eval|Function|process|fetch|axios|XMLHttp|WebSocket|Beacon|cookie|Storage|clipboard|constructor|_0x|\\x|\\u00"
    r"|fromCharCode|atob|ethereum|mnemonic|install\"|global|window|this\[|self\[|stratum|key(?:down|press"
    r"|up)|https?:|setTimeout|vm\."
)
MODULES = frozenset(
    {
        *(
            "child_process",
            "fs",
            "fs/promises",
            "fs-extra",
            "os",
            "net",
            "tls",
            "dgram",
            "dns",
            "dns/promises",
            "http",
            "https",
            "http2",
        ),
        *(
            "vm",
            "axios",
            "got",
            "node-fetch",
            "undici",
            "request",
            "superagent",
            "ws",
            "rimraf",
            "shelljs",
            "execa",
            "path",
            "util",
        ),
        "needle",
    }
)
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
SOCKET = re.compile(r"^(?:net\.(?:connect|createConnection|Socket)|tls\.connect|dgram\.createSocket)$")
_FS = r"^fs(?:/promises|-extra)?(?:\.promises)?\."
READ = re.compile(
    _FS + r"(?:readFile|readFileSync|createReadStream|copyFile|copyFileSync|readdir|readdirSync|open|openSync)$"
    r"|^Bun\.file$|^Deno\.read\w+$"
)
WRITE = re.compile(
    _FS
    + r"(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream|copyFile|copyFileSync|symlinkSync|outputFile\w*)$"
    r"|^Deno\.write\w+$"
)
DELETE = re.compile(_FS + r"(?:rm|rmSync|rmdir|rmdirSync|remove|removeSync|emptyDir\w*)$|^rimraf(?:\.\w+)?$")
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
MINER = re.compile(r"stratum\+(?:tcp|ssl)://|\bxmrig\b|coinhive|\bcryptonight\b|\brandomx\b", re.IGNORECASE)
BARE = re.compile(
    r"\b(?:https?|wss?|tcp)://(?!127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.)"
    r"\d{1,3}(?:\.\d{1,3}){3}\b"
)
WALLET = re.compile(r"^(?:mnemonic|seed_?phrase|recovery_?phrase|secret_?recovery_?phrase|private_?key)$", re.IGNORECASE)
WAITS = re.compile(
    r"(?:new\s{1,3}Date\(\)|Date\.now\(\)|\.getTime\(\))[^;{}\n]{0,30}[<>]=?\s{0,3}(?:\+\s{0,2})?"
    r"(?:new\s{1,3}Date\(\s{0,3}['\"]?\d{4}|Date\.(?:parse|UTC)\(['\"]?\d{4}|1[6-9]\d{8,11}\b)"
)
MACHINE_NAME = re.compile(r"\b_0x[0-9a-f]{3,8}\b")
HEX_RUN = re.compile(r"(?:\\x[0-9a-fA-F]{2}){12}")
INSTALLS = re.compile(r"^(?:pre|post)?install$|^prepare$")
