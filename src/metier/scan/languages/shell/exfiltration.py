"""Finds shell commands that send data away.

It follows what flows into a sending call through pipes, substitutions, files, loops, functions and
variables.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.languages.shell import remote
from metier.scan.languages.shell.commands import (
    FETCHERS,
    NETWORK,
    ShellCall,
    ShellScript,
    host,
    named_places,
    urls,
)
from metier.scan.languages.shell.remote import NETCATS
from metier.scan.model import RuleHit, word_set
from metier.scan.rules import places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.scan.languages.shell.commands import ScriptWords
    from metier.scan.languages.shell.read import ShellWord


SEARCHES = word_set("grep egrep rg ag find fd locate mdfind ack")
SECRET_FILES = re.compile(
    r"(?i)id_(?:rsa|dsa|ecdsa|ed25519)|\.(?:pem|p12|pfx|kdbx|keystore|ppk)\b|\*\.key\b|wallet|credential|secret|passw"
    r"|\.env\b|seed|mnemonic|api.?key|private.?key|token"
)
WATCHERS = word_set(
    "pbpaste wl-paste screencapture scrot gnome-screenshot grim logkeys xspy imagesnap "
    "get-clipboard"
)


class ShellSecret(NamedTuple):
    """A secret's place that a call names: which rule it falls under, what it is, and whether the
    call reads it.
    """

    call: int
    word: ShellWord
    rule: str
    what: str
    reads: bool


def dumps_environment(call: ShellCall) -> bool:
    """Say whether the call prints the whole environment."""
    if call.name in ("env", "printenv"):
        return call.args in ((), ("-0",), ("--null",))
    return (call.name == "set" and not call.args and call.command.link == "|") or (
        call.name in ("export", "declare") and call.args == ("-p",)
    )


# --- data that leaves

_BODY = (
    "-d",
    "--data",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--data-ascii",
    "-F",
    "--form",
    "--form-string",
    "-T",
    "--upload-file",
    "--post-data",
    "--post-file",
    "--body-data",
    "--body-file",
    "--json",
    "-Body",
    "-InFile",
)
MAX_SENT_WORDS = 100
"""How many words of one call, and calls inside it, are matched with one another."""
_FILES = ("-T", "--upload-file", "--post-file", "--body-file", "-InFile")
_HEADERS = word_set(
    "-H --header -u --user -b --cookie -A --user-agent --oauth2-bearer -e --referer"
)
_FACTS = word_set(
    "whoami hostname hostnamectl iwgetid id ifconfig ipconfig systeminfo sw_vers lsb_release w "
    "last ps "
    "netstat lsof arp system_profiler"
)
_OPENSSL_STAYS = word_set("enc dgst base64 rand passwd req x509 genrsa pkey rsa pkcs12 pkeyutl cms")
"""What openssl does without a network."""
_DELIVERS = re.compile(r"(?i)deploy|publish|upload|release|artifact|build|registry|import")
_SINKS = ("/dev/null",)
_FORGES = re.compile(
    r"(?i)(?:^|[@/.])(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|dev\.azure\.com|huggingface\.co"
    r"|heroku\.com|gitee\.com|sr\.ht)"
)
_COPIERS = word_set("scp sftp rsync rclone croc magic-wormhole wormhole")
_DIRECT = word_set("croc magic-wormhole wormhole sftp")
"""Copiers that need no address of another machine."""
_MAILERS = word_set("mail mailx sendmail mutt msmtp swaks ssmtp s-nail")
_STORERS = {
    "gh": "gist|issue|release|pr|api",
    "glab": "snippet|issue|mr|api",
    "hub": "gist|issue",
    "git": "push|commit|tag|notes",
    "aws": "s3|s3api|sns|sqs|ses",
    "gsutil": "cp|rsync|mv",
    "gcloud": "storage",
    "az": "storage",
    "s3cmd": "put|sync",
    "mc": "cp|mirror",
    "b2": "upload-file|sync",
    "wrangler": "r2",
    "gist": "",
    "pastebinit": "",
    "tftp": "",
    "lftp": "",
    "ftp": "",
    "ncftpput": "",
    "webhook": "",
}
"""Programs that put things where others can fetch them, each with the words that do so."""
_SENDERS = (
    NETCATS
    | _COPIERS
    | _MAILERS
    | word_set(
        "curl wget curlie xh http https iwr irm invoke-webrequest invoke-restmethod "
        "socat telnet ftp openssl websocat ssh"
    )
)
_RESOLVERS = word_set("dig nslookup host drill ping getent")
"""Programs that tell a name to a server that answers for it."""
_PACKERS = word_set("tar zip 7z cp mv tee gzip openssl gpg ditto rsync")
_REMOTE = re.compile(
    r"^(?:[\w.$-]{1,64}@)?[\w.${}-]{1,200}:(?!\\)(?!//)|^rsync://|^(?:s3|gs|sftp|ftp)://"
)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w{0,80})", re.ASCII)
_LABEL = re.compile(r"(?:\$\(\)|\$\{?\w{1,80}\}?)\.[\w$]")
_ARRAY = re.compile(r"\b([A-Za-z_]\w{0,60})=\(([^()]{1,4000})\)")
_LEFT_ASIDE = re.compile(
    r"--(?:exclude|ignore|skip)(?:-from)?(?:=|[ \t]+)(?:'[^'\n]*'|\"[^\"\n]*\"|\S+)"
)
"""What a list of options names so that it is left alone."""
_FUNCTION = re.compile(
    r"(?m)(?:^|[;\n])[ \t]*(?:function[ \t]+)?([A-Za-z_][\w-]{0,60})[ \t]*\(\)[ \t\n]*\{"
)
_OWN_SERVICE = re.compile(r"api\.telegram\.org/bot\$")
_LABELLED = re.compile(
    r"(?i)(?:credential|password|secret|private.?key)s?[\"']?\s{0,3}[=:]\s{0,3}[\"']?\$"
)
_TEXT = word_set(
    "echo printf cat jq date seq tr sed base64 awk cut head tail grep true yes uuidgen "
    "openssl xxd gzip sort"
)
_CRITICAL = {
    "credential": "SC230",
    "metadata": "SC230",
    "environment": "SC231",
    "work": "SC218",
    "project": "SC218",
    "facts": "SC237",
}
"""Kinds of what is sent, the worst first, each with its rule."""


class _ShellFlow(NamedTuple):
    """What is known so far: which calls carry which kind, and which files and variables hold what
    they gave.
    """

    kinds: dict[int, set[str]]
    held: dict[str, set[str]]
    senders: frozenset[str]
    """Functions of the script that send what they are given."""
    paths: set[str]
    """Variables that hold the name of a file, and not what is in it."""


def check_sending(
    script: ShellScript, found: list[ShellSecret], texts: ScriptWords
) -> Iterator[RuleHit]:
    """Give the hits of one script."""
    spots = [call.start for call in script.calls if sends(call)]
    if spots or any(call.name in _RESOLVERS for call in script.calls):
        yield from _sent_anywhere(script, found, texts, spots)
    yield from _collectors(texts)


def _sent_anywhere(
    script: ShellScript, found: list[ShellSecret], texts: ScriptWords, spots: list[int]
) -> Iterator[RuleHit]:
    """Follow what flows through a script to the calls that send."""
    flow = _known_at_first(script, found, texts, spots)
    for call in sorted(script.calls, key=lambda one: (one.start, -one.end, one.place)):
        _settle(script, call, flow)
        if sends(call) or call.name in flow.senders:
            yield from _sent(script, call, flow)
        elif call.name in _RESOLVERS:
            yield from _looked_up(call, flow)


def _known_at_first(
    script: ShellScript, found: list[ShellSecret], texts: ScriptWords, spots: list[int]
) -> _ShellFlow:
    """Return what the words alone say: which calls read what, and which arrays list it."""
    flow = _ShellFlow({}, {}, _sending_functions(script, spots), set())
    for secret in found:
        name = script.calls[secret.call].name
        if secret.reads or name in FETCHERS or name in _STORERS or secret.rule == "SC224":
            flow.kinds.setdefault(secret.call, set()).add(
                "metadata" if secret.rule == "SC227" else "credential"
            )
    for one in named_places("work", texts) if spots else ():
        if one.part != ">" and one.call.name not in _IDLE_WITH_WORK:
            flow.kinds.setdefault(one.call.place, set()).add("work")
    if spots and "=(" in script.text:
        for array in islice(_ARRAY.finditer(script.text), 40):
            kinds = _kinds_of_paths(_LEFT_ASIDE.sub(" ", array[2]))
            if kinds:
                flow.held["$" + array[1]] = kinds
    return flow


_IDLE_WITH_WORK = word_set(
    "mkdir cd test [ [[ code open touch echo printf chmod chown git npm npx export pip uv"
)


def _kinds_of_paths(text: str) -> set[str]:
    """Return what lies at the paths that a text names."""
    named = [
        kind
        for kind in ("credential", "work")
        if (what := places.names(kind, text)) and "sudo" not in what
    ]
    return set(named)


def _sending_functions(script: ShellScript, spots: list[int]) -> frozenset[str]:
    """Return the functions of the script in whose bodies something is sent."""
    if not spots or "()" not in script.text:
        return frozenset()
    found = set()
    for match in islice(_FUNCTION.finditer(script.text), 60):
        end = script.text.find("\n}", match.end())
        closed = script.text.find("}", match.end())
        end = end if end >= 0 else closed if closed >= 0 else len(script.text)
        if any(match.end() <= spot < end for spot in spots):
            found.add(match[1].lower())
    return frozenset(found)


def _stores(call: ShellCall) -> bool:
    verbs = _STORERS.get(call.name)
    if verbs is None or not call.args:
        return False
    if call.name == "git":
        said = any("$()" in arg for arg in call.args)
        return (said and call.args[0] in ("commit", "tag", "notes")) or (
            "push" in call.args[:4] and any("://" in arg or "@" in arg for arg in call.args)
        )
    if call.name == "aws" and call.args[0] in ("s3", "s3api"):
        return any(arg.startswith("s3://") for arg in call.args[-3:]) or call.has("put-object")
    if call.name in ("gh", "glab", "hub") and not call.has(
        "create", "comment", "upload", "edit", "api"
    ):
        return False
    return not verbs or any(arg in verbs.split("|") for arg in call.args[:2])


def sends(call: ShellCall) -> bool:
    """Say whether the call sends data over the network."""
    if call.name in _COPIERS and call.name not in _DIRECT:
        return any(_REMOTE.match(arg) for arg in call.plain()[-1:])
    return (
        call.name in _SENDERS
        or _stores(call)
        or _finds_to_send(call)
        or any(
            "/dev/tcp/" in one.target.text or "/dev/udp/" in one.target.text
            for one in call.redirects
        )
    )


def _finds_to_send(call: ShellCall) -> bool:
    return call.name in ("find", "fd") and any(
        arg in ("curl", "scp", "nc", "wget") for arg in call.args
    )


def _seeks_secrets(call: ShellCall) -> bool:
    """Say whether a search is for files that hold secrets."""
    return call.name in SEARCHES and any(
        SECRET_FILES.search(arg[:500]) and "/" not in arg for arg in call.args
    )


_TOKEN_TOOLS = word_set(
    "gh gcloud az aws kubectl vault op pass heroku git security secret-tool gpg"
)
_TOKENS = re.compile(
    r"gh auth token|gcloud auth print-(?:access|identity)-token|az account get-access-token"
    r"|aws (?:configure export-credentials|sts get-session-token|secretsmanager get-secret)"
    r"|kubectl get secrets?\b|kubectl config view --raw|vault kv get|op (?:item get|read)|pass show"
    r"|heroku auth:token|git credential fill|security find-\w{1,10}-password|secret-tool lookup"
    r"|gpg (?:--\w{1,20} ){0,2}--export-secret"
)
"""Commands that print a secret."""
_WHOLE = word_set(". ./ * $PWD ~ $HOME ~/")


def _packs_project(call: ShellCall) -> bool:
    """Say whether the call gives out all of what the user works on."""
    if call.name == "git":
        return (
            (call.has("bundle") and call.has("create"))
            or call.args[:1] in (("archive",), ("format-patch",))
            or (call.args[:1] in (("log",), ("show",)) and call.has("-p", "--patch"))
        )
    return call.name in ("tar", "zip", "7z") and call.has(*_WHOLE) and not call.flagged("x")


def _own(call: ShellCall, flow: _ShellFlow) -> set[str]:
    """Return what a call itself reads, and what the variables and files in its words hold."""
    kinds = set(flow.kinds.get(call.place, ()))
    if dumps_environment(call):
        kinds.add("environment")
    if call.name in _FACTS:
        kinds.add("facts")
    if (call.name in ("find", "fd", "mdfind", "locate") and _seeks_secrets(call)) or (
        call.name in _TOKEN_TOOLS and _TOKENS.match(" ".join((call.name, *call.args[:4])))
    ):
        kinds.add("credential")
    if call.name in WATCHERS:
        kinds.add("work")
    if _packs_project(call):
        kinds.add("project")
    if flow.held:
        fed = [one.target for one in call.redirects if one.op in ("<", "<<<")]
        for word in (*call.words, *fed):
            kinds |= _holds(word.text, flow)
    return kinds


def _holds(text: str, flow: _ShellFlow) -> set[str]:
    kinds = set()
    for match in _VARIABLE.finditer(text[:4096]):
        if "://" in text and "$" + match[1] in flow.paths:
            continue  # an address is asked for a file of that name
        kinds |= flow.held.get("$" + match[1], set())
    base = text.rpartition("@")[2].rsplit("/", 1)[-1].partition(";")[0]
    return kinds if "://" in text and base in flow.paths else kinds | flow.held.get(base, set())


def _settle(script: ShellScript, call: ShellCall, flow: _ShellFlow) -> None:
    """Work out what flows into a call, and which files and variables hold it afterwards."""
    kinds = _own(call, flow)
    for one in script.below(call):
        kinds |= _own(one, flow)
    for one in script.before(call):
        kinds |= flow.kinds.get(one.place, set())
    if call.name == "for" and call.args[1:2] == ("in",):
        for word in call.words[2:60]:
            kinds |= _kinds_of_paths(word.text)
        if any(one.name in _LETTERERS for one in script.below(call)):
            kinds.add("letters")
    flow.kinds[call.place] = kinds
    if kinds and not sends(call) and call.name not in flow.senders:
        _keep(call, kinds, flow)


_LETTERERS = word_set("xxd base64 base32 hexdump od fold")
"""What turns bytes into letters that a host's name may have."""


def _keep(call: ShellCall, kinds: set[str], flow: _ShellFlow) -> None:
    """Note which files and variables hold what a call gives."""
    if call.name == "for":
        flow.held["$" + call.args[0]] = set(kinds)
        if "letters" not in kinds:
            flow.paths.add("$" + call.args[0])
    if call.name in ("read", "mapfile", "readarray"):
        flow.held.update(("$" + arg, set(kinds)) for arg in call.plain())
    for name, word in call.command.assigns:
        if not call.name and ("$" in word.text or places.names("credential", word.text)):
            flow.held["$" + name] = set(kinds)
    targets = call.outputs()
    if call.name in _PACKERS or call.name in WATCHERS or "project" in kinds:
        targets += [
            arg
            for arg in call.plain()
            if not places.names("credential", arg) and ("." in arg or arg[:1] in "/~$")
        ]
    if call.name in ("export", "local", "declare", "readonly"):
        flow.held.update(
            ("$" + arg.partition("=")[0], set(kinds)) for arg in call.args if "$()" in arg
        )
    for target in targets:
        base = target.rstrip("/").rsplit("/", 1)[-1]
        if base and base not in ("null", "stdout", "stderr"):
            flow.held[base] = set(kinds)


def _sent(script: ShellScript, call: ShellCall, flow: _ShellFlow) -> Iterator[RuleHit]:
    """Look at what goes into a call that sends."""
    bodies = _bodies(call)[:MAX_SENT_WORDS]
    spans = [(word.start, word.end) for word in bodies]
    inside = [
        one
        for one in islice(script.below(call), MAX_SENT_WORDS)
        if any(start <= one.start < end for start, end in spans)
    ]
    sources = script.before(call) + inside
    # cat x > /dev/tcp/host/port; what a function or an uploader is given
    kinds = set(flow.kinds.get(call.place, ())) if call.name not in NETWORK else set()
    if call.name in flow.senders:
        bodies = [word for word in bodies if " " not in word.text]
        kinds = set().union(*(_kinds_of_paths(word.text) for word in bodies)) if bodies else set()
        sources = script.before(call)
    if call.name in _COPIERS and "work" in flow.kinds.get(call.place, ()):
        kinds.add("work")
    for one in sources:
        kinds |= flow.kinds.get(one.place, set()) | _own(one, flow)
    for word in bodies:
        kinds |= _holds(word.text, flow)
    files = [word.text for word in bodies] if call.name in _COPIERS else _uploads(call)
    files += [one.target.text for one in call.redirects if one.op == "<"]
    if any(places.names("credential", text) and not text.endswith(".pub") for text in files):
        kinds.add("credential")
    if any(places.names("work", text) for text in files):
        kinds.add("work")
    yield from _verdict(script, call, kinds, sources)


def _uploads(call: ShellCall) -> list[str]:
    """Return the files that a fetcher is told to send."""
    whole = [word.text for word in call.option(*_FILES)]
    if call.name in ("http", "https", "xh"):
        whole += [arg.rpartition("@")[2] for arg in call.args if "@" in arg and "://" not in arg]
    return whole + [
        word.text.rpartition("@")[2]
        for word in call.option(*_BODY)
        if word.text[:1] == "@" or "=@" in word.text or "@/" in word.text
    ]


def _bodies(call: ShellCall) -> list[ShellWord]:
    """Return the words whose content is sent: bodies, uploads, and addresses; not headers, where a
    key belongs.
    """
    if call.name in FETCHERS:
        kept = []
        skip = False
        for word in call.words:
            header = word.text in _HEADERS
            if (not skip and not header and not _OWN_SERVICE.search(word.text)) or (
                skip
                and not re.match(
                    r"(?i)\s*(?:authorization|x-[\w-]*(?:key|token|auth)|api-?key|private-token|cookie|bearer)",
                    word.text,
                )
                and ":" in word.text
            ):
                kept.append(word)
            skip = header
        aside = call.option("-u", "--user", "-b", "-A")
        return [word for word in kept if word not in aside]
    if call.name == "openssl" and not call.has("s_client"):
        return []
    aside = call.option("-i", "-F", "-o", "-e", "--rsh", "--exclude", "--exclude-from")
    words = call.words[:MAX_SENT_WORDS]
    return [one for one in words if one not in aside and not one.text.startswith("--exclude")]


def _verdict(
    script: ShellScript, call: ShellCall, kinds: set[str], sources: list[ShellCall]
) -> Iterator[RuleHit]:
    start = min([call.start, *[one.start for one in script.before(call)]])
    span = (start, max(call.end, start))
    if _stays(script, call):
        return
    grave = _grave_rule(script, call, kinds)
    if grave:
        yield RuleHit(grave, *span)
    elif call.name in _COPIERS or _pushes_away(call):
        if call.name == "git" or any(_REMOTE.match(arg) for arg in call.plain()[-1:]):
            yield RuleHit("SC235", *span)
    elif call.name in NETCATS or any("/dev/tcp/" in one.target.text for one in call.redirects):
        yield from _raw(script, call, span)
    elif call.name in FETCHERS:
        yield from _uploaded(call, sources, span)


def _stays(script: ShellScript, call: ShellCall) -> bool:
    """Say whether nothing leaves the machine after all."""
    fed = script.before(call) or any(one.op in ("<", "<<<") for one in call.redirects)
    if call.name == "ssh" and not any("@" in arg or "." in arg or "$" in arg for arg in call.args):
        return True  # a line of a table that begins with the word
    if call.name in ("ssh", "openssl") and not fed:
        return True
    if call.name == "openssl" and call.args[:1] and call.args[0] in _OPENSSL_STAYS:
        return True  # it only encrypts
    local = [url for url, _ in urls(call)]
    return bool(local) and all(remote.is_this_machine(url) for url in local)


def _grave_rule(script: ShellScript, call: ShellCall, kinds: set[str]) -> str:
    """Return the rule for what is sent, where sending it is grave, or an empty text."""
    if call.name == "git" and not call.has("push"):
        kinds &= {"credential", "environment"}
    elif _pushes_away(call):
        silent = any(one.target.text in _SINKS for one in call.redirects)
        if silent or call.has("--mirror", "--all") or _unwatched(script, call):
            kinds.add("work")
    told = {one.name for one in script.calls if one.name in _FACTS}
    if "facts" in kinds and told <= {"hostname"} and _left_open(call):
        kinds = kinds - {"facts"}  # which machine it was, told to an address of the user's choice
    rules = [rule for kind, rule in _CRITICAL.items() if kind in kinds]
    if rules[:1] == ["SC218"] and not _takes_away(script, call, kinds):
        rules = ["SC237"] if "facts" in kinds else []
    elif not rules and _uploads(call) and _fixed(call) and _unwatched(script, call):
        rules = ["SC218"]
    return rules[0] if rules else ""


def _takes_away(script: ShellScript, call: ShellCall, kinds: set[str]) -> bool:
    """Say whether work goes where the skill alone decided, and not only to be deployed."""
    if not _fixed(call):
        return False
    target = " ".join(url for url, _ in urls(call)) or " ".join(call.args[-2:])
    return "work" in kinds or _unwatched(script, call) or not _DELIVERS.search(target)


def _unwatched(script: ShellScript, call: ShellCall) -> bool:
    """Say whether nobody is to see that something was sent, or that it failed."""
    silent = any(one.target.text in _SINKS for one in call.redirects) or any(
        word.text in _SINKS for word in call.option("-o", "--output", "-O")
    )
    behind = script.calls[call.place + 1 : call.place + 2]
    shrugs = call.command.link == "||" and any(one.name in ("true", ":") for one in behind)
    return (silent and (call.command.link == "&" or shrugs)) or (
        call.command.link == "&" and call.has("-s", "--silent", "-sS", "-q")
    )


def _pushes_away(call: ShellCall) -> bool:
    """Say whether a repository is pushed to an address that is no forge's."""
    if call.name != "git" or "push" not in call.args[:4]:
        return False
    targets = [arg for arg in call.args if "://" in arg]
    return any(
        not _FORGES.search(one) and not remote.is_this_machine(one) and "$" not in host(one)
        for one in targets
    )


def _fixed(call: ShellCall) -> bool:
    """Say whether the skill itself says where things go, and nobody is asked."""
    if call.name not in FETCHERS:
        targets = " ".join(call.args[-8:]).split(" ")
        if call.name in _COPIERS or call.name in _MAILERS or call.name in _STORERS:
            return "$" not in targets[-1] or any(
                "://" in one and "$" not in one.partition("://")[2].partition("/")[0]
                for one in targets
            )
        return True
    hosts = [host(url) for url, _ in urls(call)]
    return bool(hosts) and not any("$" in one or "<" in one for one in hosts)


def _left_open(call: ShellCall) -> bool:
    """Say whether the user chooses the address: a variable holds it, or something stands in only where
    none is set (`${SERVER:-https://…}`).
    """
    found = [url for url, _ in urls(call)]
    if any(f":-{url}" in arg for url in found for arg in call.args):
        return True
    if found and all(map(_FORGES.search, found)):  # into the user's own account there
        return any("authorization" in arg.lower() and "$" in arg for arg in call.args)
    return not _fixed(call) and (bool(found) or call.name not in FETCHERS)


def _raw(script: ShellScript, call: ShellCall, span: tuple[int, int]) -> Iterator[RuleHit]:
    near = any(remote.is_this_machine(arg) for arg in call.plain())
    fed = any(one.name not in ("echo", "printf", "yes") for one in script.before(call)) or any(
        one.op == "<" for one in call.redirects
    )
    if fed and not near and not call.flagged("l") and not call.flagged("z"):
        yield RuleHit("SC236", *span)


def _uploaded(
    call: ShellCall, sources: list[ShellCall], span: tuple[int, int]
) -> Iterator[RuleHit]:
    values = call.option(*_BODY)
    packers = ("base64", "xxd", "gzip", "rev")
    if any(
        one.name in packers or (one.name == "openssl" and one.has("enc", "base64"))
        for one in sources
    ) and any(one.name not in (*packers, "openssl", "tr") for one in sources):
        yield RuleHit("SC217", *span)
    if any(one.name and one.name not in _TEXT for one in sources):
        yield RuleHit("SC238", *span)
    elif _uploads(call):
        yield RuleHit("SC232", *span)
    piped = [word for one in sources if one.name in ("echo", "printf") for word in one.words]
    for word in (*values, *piped, *[word for _, word in urls(call)]):
        text = word.text[:4096]
        named = (match[1] for match in _VARIABLE.finditer(text) if places.secret_name(match[1]))
        labelled = word in piped and _LABELLED.search(text)
        secret = next(named, "credential" if labelled else "")
        if secret:
            yield RuleHit(
                "SC239",
                word.start,
                word.end,
                f"${secret} to {', '.join(host(url) for url, _ in urls(call))[:80]}",
            )
            return


def _looked_up(call: ShellCall, flow: _ShellFlow) -> Iterator[RuleHit]:
    padded = call.option("-p") if call.name == "ping" else []
    for word in call.words:
        labelled = _LABEL.search(word.text) or word in padded
        if labelled and ("$()" in word.text or _holds(word.text, flow)):
            yield call.hit("SC234")
            return


def _collectors(texts: ScriptWords) -> Iterator[RuleHit]:
    for call, word, _, what in named_places("exfiltration", texts):
        if call.name not in ("echo", "printf", "grep", "dig", "whois"):
            rule = remote.collector(what)
            if rule == "SC219" and not (call.option(*_BODY) or "$" in word.text):
                rule = "SC233"  # looked at, or waited on: nothing is put in
            yield RuleHit(rule, word.start, word.end, what)
