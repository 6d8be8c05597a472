"""What PowerShell may do (SC450 to SC469), with the patterns that show it."""

from __future__ import annotations

from metier.scan.languages.tokens import pattern
from metier.scan.model import READ_CODE_HINT, REMOVE_HINT, ScanRule

RULES = (
    ScanRule(
        "SC450",
        "high",
        "execution",
        "The script runs what it has downloaded",
        "Whoever holds the other end decides what runs here",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC451",
        "medium",
        "execution",
        "The script evaluates text as a command",
        "Text that becomes code can be anything at run time",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC452",
        "low",
        "network",
        "The script downloads or sends over the network",
        "Data can leave, and programs can arrive",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC453",
        "high",
        "obfuscation",
        "The script runs an encoded command",
        "Encoding what is then run serves to hide it",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC454",
        "medium",
        "evasion",
        "The script sets the execution policy aside",
        "The policy is there to stop scripts such as this",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC455",
        "high",
        "evasion",
        "The script runs in a hidden window",
        "The user is not meant to see it",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC456",
        "critical",
        "evasion",
        "The script switches the virus scanner off or makes exceptions for itself",
        "Only malware needs it",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC457",
        "medium",
        "persistence",
        "The script has itself started again: task, run key, service or start-up folder",
        "It stays after the skill is gone",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC458",
        "high",
        "execution",
        "The script uses a system program to load code from afar",
        "These programs are trusted by Windows, which is why malware uses them",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC459",
        "medium",
        "credential",
        "The script reads stored credentials or browser data",
        "They open everything the user has",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC460",
        "critical",
        "evasion",
        "The script switches off the inspection of scripts",
        "Only malware needs it",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC461",
        "critical",
        "execution",
        "The script gives a shell to a remote host",
        "A reverse shell hands over the machine",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC462",
        "high",
        "obfuscation",
        "The script hides its words",
        "Back-ticks, codes and format tricks serve to escape a reader and a search",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC463",
        "high",
        "execution",
        "The script downloads a program and starts it",
        "The program was never read by anyone here",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC464",
        "high",
        "destructive",
        "The script deletes disks, backups or the user's folder",
        "What is deleted is not the skill's own",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC465",
        "medium",
        "privilege",
        "The script asks for administrator rights",
        "With them it can change the whole machine",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC466",
        "critical",
        "exfiltration",
        "The script sends credentials or the environment to the network",
        "What was read from a private place leaves the machine",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC467",
        "low",
        "execution",
        "The script starts other programs",
        "A child process can do whatever the user can",
        READ_CODE_HINT,
    ),
    ScanRule(
        "SC469",
        "high",
        "persistence",
        "The script has code started again that it fetches, encodes or hides",
        "What runs at every start is not what stands here",
        REMOVE_HINT,
    ),
    ScanRule(
        "SC468",
        "info",
        "credential",
        "The script reads a secret from the environment",
        "The value must not go further than its service",
        READ_CODE_HINT,
    ),
)

_IEX = r"(?:iex|invoke-expression)"
_GET = r"(?:downloadstring|downloaddata|invoke-webrequest|invoke-restmethod|iwr|irm|curl|wget|getstringasync|start-bitstransfer)"
_LOLBIN = r"(?:certutil|bitsadmin|mshta|rundll32|regsvr32|installutil|msbuild|wmic|cmstp|msiexec)(?:\.exe)?"

PATTERNS = (
    pattern("SC450", "iex invoke-expression", rf"\b{_IEX}\b[^\n;]{{0,160}}\b{_GET}\b"),
    pattern("SC450", "iex invoke-expression", rf"\b{_GET}\b[^\n;]{{0,300}}\|\s{{0,4}}{_IEX}\b"),
    pattern(
        "SC450",
        "iex invoke-expression",
        rf"(\$\w{{1,40}}) ?= ?[^\n;]{{0,200}}\b{_GET}\b",
        then=rf"\b{_IEX}\b[ (]{{0,3}}{{0}}\b",
    ),
    pattern("SC450", "scriptblock", rf"scriptblock ?\] ?:: ?create ?\([^\n;]{{0,160}}\b{_GET}\b"),
    pattern("SC451", "iex invoke-expression", rf"(?<![\w-]){_IEX}(?![\w-])"),
    pattern("SC451", "scriptblock", r"\[ ?scriptblock ?\] ?:: ?create"),
    pattern("SC451", "invokescript", r"\binvokescript\b"),
    pattern(
        "SC452",
        "download invoke-webrequest invoke-restmethod iwr irm webclient httpclient upload "
        "bitstransfer",
        r"(?<![\w-])(?:downloadstring|downloadfile|downloaddata|uploadstring|uploadfile|uploaddata"
        r"|invoke-webrequest|invoke-restmethod|iwr|irm|start-bitstransfer|net\.webclient|httpclient)(?![\w-])",
    ),
    pattern(
        "SC453",
        "-e -ec -enc",
        r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n;|]{0,200}\s[-/]e(?:nc?|nco|ncod|ncode|ncoded|ncodedcommand"
        r"|c)?\s{1,3}\x02?[a-z0-9+/=]{16}",
    ),
    pattern("SC453", "frombase64string", rf"\b{_IEX}\b[^\n;]{{0,200}}\bfrombase64string\b"),
    pattern(
        "SC453", "frombase64string", rf"\bfrombase64string\b[^\n;]{{0,300}}\|\s{{0,4}}{_IEX}\b"
    ),
    pattern(
        "SC453",
        "frombase64string",
        r"(\$\w{1,40}) ?= ?[^\n;]{0,200}\bfrombase64string\b",
        then=rf"\b{_IEX}\b[ (]{{0,3}}{{0}}\b",
    ),
    pattern(
        "SC454",
        "bypass unrestricted",
        r"-(?:ep|ex|exec|executionpolicy)\s{1,3}\x02?(?:bypass|unrestricted)\b",
    ),
    pattern(
        "SC454",
        "set-executionpolicy",
        r"\bset-executionpolicy\b[^\n;]{0,60}\b(?:bypass|unrestricted)\b",
    ),
    pattern(
        "SC455",
        "hidden",
        r"-(?:w|win|windowstyle)\s{1,3}\x02?(?:hidden|1)\b|-windowstyle\s{1,3}h\w{0,6}\b",
    ),
    pattern(
        "SC456",
        "mppreference",
        r"\badd-mppreference\b[^\n;]{0,40}-exclusion\w+|\bset-mppreference\b[^\n;]{0,60}-disable\w+",
    ),
    pattern(
        "SC456",
        "windefend defender",
        r"\b(?:stop-service|set-service|sc\.exe|sc)\b[^\n;]{0,40}\b(?:windefend|sense|mpssvc)\b"
        r"|uninstall-windowsfeature[^\n;]{0,40}defender",
    ),
    pattern(
        "SC456",
        "advfirewall netfirewallprofile",
        r"\bset-netfirewallprofile\b[^\n;]{0,80}-enabled\s{1,3}\x02?(?:false|\$false)|advfirewall\s[^\n;]{0,60}state\s{1,3}off",
    ),
    pattern(
        "SC457",
        "scheduledtask schtasks",
        r"\b(?:register-scheduledtask|new-scheduledtask|schtasks(?:\.exe)?[^\n;]{0,40}/create)\b",
    ),
    pattern(
        "SC457",
        "currentversion",
        r"(?:new-itemproperty|set-itemproperty|new-item|reg(?:\.exe)?\s{1,3}add"
        r"|sp)\b[^\n;]{0,120}currentversion[\\/]{1,2}run(?:once)?\b",
    ),
    pattern(
        "SC457", "new-service", r"(?<![\w-])new-service(?![\w-])|\bsc(?:\.exe)?\s{1,3}create\b"
    ),
    pattern(
        "SC457",
        "startup",
        r"(?:copy-item|out-file|set-content|add-content|move-item|createshortcut|downloadfile"
        r"|-outfile)\b[^\n;]{0,160}programs[\\/]{1,2}startup",
    ),
    pattern("SC457", "eventconsumer eventfilter", r"__eventfilter|commandlineeventconsumer"),
    pattern("SC457", "$profile", r"(?:add-content|set-content|out-file)[^\n;]{0,80}\$profile\b"),
    pattern("SC458", "http", rf"\b{_LOLBIN}\b[^\n;]{{0,200}}https?://"),
    pattern(
        "SC458",
        "javascript: vbscript:",
        r"\b(?:mshta|rundll32)(?:\.exe)?\b[^\n;]{0,60}(?:javascript|vbscript):",
        code=False,
    ),
    pattern("SC458", "scrobj", r"\bregsvr32(?:\.exe)?\b[^\n;]{0,120}scrobj"),
    pattern(
        "SC459",
        "cmdkey vaultcmd protecteddata passwordvault",
        r"\bcmdkey(?:\.exe)?\s{1,3}/list|\bvaultcmd(?:\.exe)?\b|protecteddata\s?\] ?:: ?unprotect|\bpasswordvault\b",
    ),
    pattern("SC459", "mimikatz lsass", r"\bmimikatz\b|sekurlsa|\blsass\b|minidump"),
    pattern("SC459", "netsh", r"\bwlan\s{1,3}show\s{1,3}profiles?\b[^\n;]{0,60}key\s?=\s?clear"),
    pattern(
        "SC460",
        "amsi etw",
        r"amsi(?:utils|initfailed|scanbuffer|context)|\betweventwrite\b",
        code=False,
    ),
    pattern(
        "SC461",
        "tcpclient",
        r"\btcpclient\b[\s\S]{0,600}?\bgetstream\b",
        then=r"\b(?:iex|invoke-expression|cmd(?:\.exe)?|processstartinfo|powershell)\b",
        gap=1500,
    ),
    pattern("SC461", "powercat", r"\bpowercat\b[^\n;]{0,80}-e\w*\s"),
    pattern("SC462", "[char]", r"(?:\[char\] ?\(?(?:0x)?[\da-f]{1,5}\)? ?\+? ?){4}"),
    pattern("SC462", "-f", r"\x02(?:\{\d{1,2}\}){3,}[^\x03]{0,40}\x03\)? ?-f\b"),
    pattern("SC462", "-bxor", r"-bxor\b[^\n]{0,120}\bchar\b|\bchar\b[^\n]{0,120}-bxor\b"),
    pattern(
        "SC462", "tochararray", r"\[ ?array ?\] ?:: ?reverse|tochararray ?\( ?\)[^\n;]{0,40}\[ ?-1"
    ),
    pattern(
        "SC462",
        "pshome comspec shellid",
        r"\$(?:pshome|shellid|env:comspec) ?\[ ?-?\d{1,2}[^\n;]{0,60}-join",
    ),
    pattern(
        "SC463",
        "outfile downloadfile bitstransfer -o",
        r"(?<![\w-])(?:downloadfile|-outfile|-o|start-bitstransfer)\b[^\n]{0,240}?\.(?:exe|dll|scr|bat|cmd|vbs|msi|ps1)\b",
        then=r"\b(?:start-process|invoke-item|saps|start)\b|& ",
        gap=400,
    ),
    pattern(
        "SC464",
        "shadowcopy vssadmin format-volume clear-disk remove-item",
        r"\bvssadmin(?:\.exe)?\s{1,3}delete\b|shadowcopy[^\n;]{0,40}delete|\b(?:format-volume|clear-disk)\b"
        r"|\bremove-item\b[^\n;]{0,60}(?:\x02?c:\\(?:users)?\\?\*?\x03?|\$env:userprofile|\$home"
        r"|~)\s{1,3}[^\n;]{0,40}-recurse",
    ),
    pattern("SC465", "runas", r"-verb\s{1,3}\x02?runas\b"),
    pattern(
        "SC467",
        "start-process",
        r"(?<![\w-])(?:start-process|saps|invoke-item)(?![\w-])|diagnostics\.process ?\] ?:: ?start",
    ),
)
