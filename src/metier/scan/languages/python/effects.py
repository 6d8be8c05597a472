"""Reads the Python calls that act: on files, on the machine and on the network."""

from __future__ import annotations

import ast
import re
from itertools import islice
from typing import TYPE_CHECKING

from metier.scan.languages.python import fold, names
from metier.scan.languages.python.calls import (
    LONG_SLEEP,
    ROOTS,
    CallReader,
    PythonCall,
    fill,
)
from metier.scan.languages.python.names import (
    AGENT_PATH,
    BARE_IP,
    BUILT,
    CARRIED,
    CHAT_HOST,
    CLIP,
    CRED,
    CRED_PATH,
    DECODED,
    DROP_HOST,
    ENCODED,
    ENV,
    ENV_ALL,
    FETCHED_PATH,
    FILE,
    HOST,
    INPUT,
    METADATA,
    NET,
    PATHS,
    PROC,
    SECRET_ENV,
    SELF,
    START_PATH,
    SWEPT,
    SWEPT_HOME,
    WEAK,
    WEAK_PATH,
    WORK,
    WORK_PATH,
)
from metier.scan.languages.python.taint import NOTHING, TaintValue, labels_of
from metier.scan.languages.shell.remote import is_this_machine
from metier.scan.model import word_set

if TYPE_CHECKING:
    from metier.scan.languages.python.taint import TaintWalk


_VARIABLE = "\0var:"
"""Begins the stand-in for a path of which only the variable's name is known."""


def note_fetched(walk: TaintWalk, node: ast.AST, path: TaintValue) -> None:
    """Remember a file that now holds what the network answered."""
    if isinstance(node, ast.Name):
        walk.add_labels(node.id, FETCHED_PATH)
    if isinstance(path.const, str) and path.const.startswith(_VARIABLE):
        walk.add_labels(path.const.removeprefix(_VARIABLE), FETCHED_PATH)
    elif (
        isinstance(path.const, str)
        and len(path.const) > 3
        and fold.HOLE not in path.const
        and len(walk.fetched) < 20
    ):
        walk.fetched.add(path.const)


def note_read(call: PythonCall, path: TaintValue) -> int:
    """Note that a file is read, and tell what its content counts as."""
    if path.labels & CRED_PATH:
        note_stolen(call, path)
        return CRED
    if path.labels & WORK_PATH:
        return WORK
    if path.labels & WEAK_PATH:
        call.hit("SC306")
        return WEAK
    if path.labels & FETCHED_PATH or path.const in call.walk.fetched:
        return NET | FILE
    return FILE | (path.labels & (SWEPT | SWEPT_HOME))


_MANY_STORES = 4


def note_stolen(call: PythonCall, path: TaintValue) -> None:
    """Note that a store of credentials is opened: one, one that nobody needs, or one of many."""
    call.hit("SC305")
    text = path.const if isinstance(path.const, str) else ""
    found = names.KINDS[0].pattern.search(text, 0, 2000)
    if names.SAVED.search(text, 0, 2000):
        call.hit("SC349", text)
    if found:
        call.walk.stores.add(found[0][:20].lower())
        if len(call.walk.stores) >= _MANY_STORES:
            call.hit("SC349", ", ".join(sorted(call.walk.stores)))


def note_write(call: PythonCall, path: TaintValue) -> None:
    """Note that a file is written."""
    call.hit("SC393")
    call.fact("write")
    if path.labels & START_PATH:
        call.hit("SC309")
    if path.labels & AGENT_PATH:
        call.hit("SC310")
    if path.labels & SELF and not isinstance(path.const, str):
        call.hit("SC344")


def _open(call: PythonCall) -> TaintValue:
    path = call.first
    mode = call.kwargs.get("mode", call.args[1] if len(call.args) > 1 else NOTHING).const
    argument = call.node.args[0] if call.node.args else None
    key = (
        path.const
        if isinstance(path.const, str)
        else _VARIABLE + argument.id
        if isinstance(argument, ast.Name)
        else None
    )
    if isinstance(mode, str) and set(mode) & set("wax+"):
        note_write(call, path)
        return TaintValue(path.labels & PATHS, key, "open()")
    return TaintValue(note_read(call, path), key, "open()")


def _path_open(call: PythonCall) -> TaintValue:
    if not call.owner.name.startswith("pathlib.") and not call.owner.labels & PATHS:
        return TaintValue(
            call.labels | call.owner.labels, None, f"{call.name}()"[-120:] if call.name else ""
        )
    if call.attr != "open":
        if call.owner.labels & CRED_PATH:
            call.hit("SC305")
        call.fact("walk")
        swept = SWEPT
        every = not call.args or call.first.const in ("*", "**", "**/*", "*.*")
        if every and call.attr == "rglob" and call.owner.const in ROOTS:
            swept |= SWEPT_HOME
        return TaintValue(call.owner.labels | call.labels | swept, None, "pathlib.Path()")
    func = call.node.func
    owner = func.value if isinstance(func, ast.Attribute) else call.node
    node = ast.copy_location(
        ast.Call(func, [owner, *call.node.args], call.node.keywords), call.node
    )
    return _open(call._replace(node=node, args=[call.owner, *call.args]))


def _path_write(call: PythonCall) -> TaintValue:
    note_write(call, call.owner)
    func = call.node.func
    note_start(call, call.owner)
    if call.labels & NET and isinstance(func, ast.Attribute):
        note_fetched(call.walk, func.value, call.owner)
    return NOTHING


def note_start(call: PythonCall, place: TaintValue) -> None:
    """Note that what is written where programs start fetches, decodes or hides something."""
    text = fold.shown(call.first.const)
    if place.labels & START_PATH and names.STARTS.search(text, 0, names.MAX_TEXT_CHARS):
        call.hit("SC352", text)


def _stream_write(call: PythonCall) -> TaintValue:
    """Write to an open file, an archive or a buffer."""
    if call.owner.name == "open()":
        note_start(call, call.owner)
    if call.owner.name == "open()" and call.labels & NET:
        note_fetched(call.walk, call.node, TaintValue(0, call.owner.const))
    if call.labels & CRED_PATH and call.owner.name.startswith(("zipfile.", "tarfile.")):
        call.hit("SC305")
        fill(call, CRED)
    else:
        fill(call, call.labels)
    return NOTHING


def _reader(call: PythonCall) -> TaintValue:
    """Copy, list or open a database."""
    if call.first.labels & CRED_PATH:
        note_stolen(call, call.first)
    if call.name.endswith((".walk", ".glob", ".iglob")):
        call.fact("walk")
        swept = SWEPT_HOME if call.name == "os.walk" and call.first.const in ROOTS else 0
        content_labels = SWEPT | swept
    else:
        content_labels = 0
    if call.name.startswith("shutil.") and len(call.args) > 1:
        note_write(call, call.args[1])
    content = CRED if call.first.labels & CRED_PATH and call.name.startswith("sqlite3") else 0
    content |= content_labels
    if call.first.labels & WORK_PATH:
        content |= WORK
    if call.name.endswith("make_archive"):
        content |= FILE
    if call.name.endswith("listdir"):
        content |= HOST
    return TaintValue(call.labels | content, None, f"{call.name}()")


def _rmtree(call: PythonCall) -> TaintValue:
    call.hit("SC396")
    if isinstance(call.first.const, str) and call.first.const in ROOTS:
        call.hit("SC311")
    return NOTHING


def _delete(call: PythonCall) -> TaintValue:
    path = call.owner if call.attr in {"unlink", "rmdir"} and not call.args else call.first
    call.hit("SC396")
    if path.labels & SWEPT_HOME:
        call.hit("SC311")
    call.fact("delete")
    if path.labels & SELF and not isinstance(path.const, str):
        call.hit("SC344")
    return NOTHING


FILES: dict[str, CallReader] = {
    "open": _open,
    "path_open": _path_open,
    "path_read": lambda call: TaintValue(note_read(call, call.owner)),
    "path_write": _path_write,
    "path_delete": _delete,
    "stream_write": _stream_write,
    "reader": _reader,
    "rmtree": _rmtree,
    "delete": _delete,
}
"""Role -> reader, of all that is about files."""


_COPIES = re.compile(
    r"\b(?:cat|cp|tar|zip|base64|head|tail|less|type|scp|rsync|sqlite3|xxd|grep|find|curl|openssl)\b"
)
_KEYCHAIN = re.compile(
    r"\bsecurity\s{1,4}(?:find-(?:generic|internet)-password|dump-keychain|unlock-keychain)"
    r"|\bsecret-tool\s{1,4}(?:lookup|search)"
)
_SPIES = re.compile(
    r"\b(?:pbpaste|xclip\s[^\n]{0,40}-o|xsel\s[^\n]{0,40}-(?:o|b)|screencapture|wl-paste)\b"
)
_TOKENS = re.compile(
    r"gh auth token|gcloud auth print-(?:access|identity)-token|az account get-access-token"
    r"|aws (?:configure export-credentials|sts get-session-token|secretsmanager get-secret)"
    r"|kubectl get secrets?\b|kubectl config view --raw|vault kv get|op (?:item get|read)|pass show"
    r"|heroku auth:token|git credential fill"
)
"""Commands that print a secret."""
_TALKERS = word_set("curl wget scp rsync nc ncat git gh aws rclone ssh")
_LOOKUPS = re.compile(r"\b(?:dig|nslookup|drill|host|ping)\s")
_SENDERS = re.compile(
    r"\b(?:curl|wget|nc|ncat|scp|sftp|rsync|Invoke-WebRequest|Invoke-RestMethod)\s"
)
_DETACHED = 0x08000000 | 0x00000008  # no window, detached
_HIDES = re.compile(r"\bnohup\b|\bsetsid\b|\bdisown\b|-[wW]indow[sS]tyle\s{1,4}[hH]idden|&\s{0,4}$")
_SHELLS = word_set(
    "sh bash zsh cmd cmd.exe powershell powershell.exe pwsh osascript /bin/sh /bin/bash /bin/zsh"
)


# --- code and commands


def acts(call: PythonCall) -> None:
    """Note that something happens here that a date or a machine decides about."""
    if call.walk.guard > 0:
        call.hit("SC326")


def _code(call: PythonCall) -> TaintValue:
    what = call.first
    labels = what.labels
    acts(call)
    call.fact("code")
    text = fold.shown(what.const)
    _runs(call, labels, text)
    if labels & FETCHED_PATH:
        call.hit("SC308")
    if text and fold.HOLE not in text and len(text) > 3:
        call.walk.nested.append((text, call.node))
    if (
        call.node.args
        and not isinstance(call.node.args[0], ast.Constant)
        and not labels & (NET | DECODED)
    ):
        call.hit("SC346")
    return TaintValue(labels)


def _runs(call: PythonCall, labels: int, text: str) -> None:
    """Note that what is run came from elsewhere."""
    if labels & NET:
        call.hit("SC301")
    if labels & DECODED:
        call.hit("SC302", text)
    if labels & INPUT:
        call.hit("SC335")


def command_text(value: TaintValue) -> str:
    """Give a command as one line: a text, or the items of a list; what is not known is a hole."""
    if isinstance(value.const, str):
        return value.const
    if isinstance(value.const, tuple):
        return " ".join(part if isinstance(part, str) else fold.HOLE for part in value.const[:200])
    return ""


def _process(call: PythonCall) -> TaintValue:
    values = (
        call.args
        if call.name.startswith(("os.exec", "os.spawn", "os.posix", "asyncio."))
        else call.args[:1] or [call.keyword("args")]
    )
    text = " ".join(filter(None, map(command_text, values)))
    labels = labels_of(values)
    parts = text.split(" ")
    shellish = (
        names.ROLES.get(call.name) == "shell"
        or call.keyword("shell").const is True
        or (parts[0] in _SHELLS and len(parts) > 1)
        or "-c" in parts[1:4]
        or "-e" in parts[1:3]
    )
    call.hit("SC391", text.replace(fold.HOLE, "…"))
    call.fact("process")
    acts(call)
    _flows(call, labels, text, shellish=shellish)
    _manner(call, text)
    return _output(call, labels, text)


def _flows(call: PythonCall, labels: int, text: str, *, shellish: bool) -> None:
    if shellish:
        _runs(call, labels, text)
    if labels & FETCHED_PATH or any(path in text for path in call.walk.fetched):
        call.hit("SC308")
    if text:
        for rule in names.rules_of_command(text):
            call.hit(rule, text)
        if (shellish or text.split(" ", 1)[0] in _TALKERS) and len(call.walk.commands) < 50:
            call.walk.commands.append((text, call.node))
        hosts(call, names.labels(text))
        if labels & BUILT and labels & (CARRIED | ENV) and _LOOKUPS.search(text):
            call.hit("SC333")
        elif _SENDERS.search(text):
            call.fact("network")
            outflow(call, labels)


def _manner(call: PythonCall, text: str) -> None:
    """Note how a process is started: out of sight, or with a socket for its input and output."""
    flags = call.keyword("creationflags")
    hidden = (
        call.keyword("start_new_session").const is True
        or call.keyword("preexec_fn").name == "os.setsid"
        or flags.name.endswith(("DETACHED_PROCESS", "CREATE_NO_WINDOW"))
        or (isinstance(flags.const, int) and bool(flags.const & _DETACHED))
    )
    if hidden or _HIDES.search(text):
        call.hit("SC314")
    if any(
        call.keyword(stream).name.startswith("socket.") for stream in ("stdin", "stdout", "stderr")
    ):
        call.hit("SC307")
    if call.name == "pty.spawn":
        call.fact("pty")
    if re.search(r"(?:^|/)(?:ba|z|da|k)?sh(?: -i)?$|^cmd\.exe$", text):
        call.fact("bare shell")


def _output(call: PythonCall, labels: int, text: str) -> TaintValue:
    found = PROC
    if (labels & CRED_PATH and _COPIES.search(text)) or _KEYCHAIN.search(text):
        call.hit("SC305", text)
        found |= CRED
    if _SPIES.search(text):
        call.hit("SC316")
        call.fact("spy")
        found |= CLIP
    if text.strip() in {"env", "printenv", "set", "export"}:
        found |= ENV_ALL
    if _TOKENS.match(text):
        found |= CRED
    if text.split(" ", 1)[0] in {
        "whoami",
        "hostname",
        "uname",
        "id",
        "ifconfig",
        "systeminfo",
        "ipconfig",
    }:
        found |= HOST
    return call.result(found)


# --- the network


_HOST_RULES = ((DROP_HOST, "SC318"), (CHAT_HOST, "SC319"), (BARE_IP, "SC320"), (METADATA, "SC341"))
_OUTFLOW_RULES = (
    (CRED, "SC303"),
    (ENV_ALL, "SC304"),
    (WEAK, "SC331"),
    (CLIP, "SC315"),
    (PROC, "SC334"),
    (HOST, "SC332"),
    (FILE, "SC329"),
)
"""What may leave the machine, the worst first."""


def hosts(call: PythonCall, labels: int) -> None:
    """Name the kinds of hosts that are talked to."""
    for label, rule in _HOST_RULES:
        if labels & label:
            call.hit(rule)


_FOREIGN = re.compile(
    r"\b(?:https?|ftp|wss?)://(?:[^/@\s]{0,80}@)?([\w.-]{1,200}\.[a-zA-Z]{2,20})(?=[:/?#]|$)"
)
_KNOWN_SERVICES = re.compile(
    r"(?:^|\.)(?:slack|discord|telegram|github|gitlab|googleapis|google|openai|anthropic|notion|microsoft|azure"
    r"|amazonaws|twilio|sendgrid|stripe|atlassian|linear|figma|huggingface|openrouter|mistral|groq|cohere|dropbox"
    r"|airtable|hubspot|salesforce|zoom|elevenlabs|replicate|deepl|cloudflare|vercel|supabase|pinecone|assemblyai"
    r"|deepgram|x|twitter|linkedin|facebook|wordpress|shopify|imgur|cloudinary|ocr|wechat|qq|feishu|dingtalk|weixin)\."
)
_UNSEEN = FILE | PROC | HOST | WORK | CLIP | WEAK | CRED | ENV_ALL


_WORDS_OF_USERS = word_set(
    "transcript conversation chat_history messages system_prompt systemPrompt system memory history "
    "SYSTEM_PROMPT MEMORY HISTORY"
)


def _tells(call: PythonCall) -> bool:
    """Say whether what is sent is, by its name, what the user and the agent said."""
    parts = [
        one.value for one in call.node.keywords if one.arg in {"json", "data", "files", "content"}
    ]
    found = {
        node.id if isinstance(node, ast.Name) else node.attr
        for part in parts
        for node in islice(ast.walk(part), 60)
        if isinstance(node, ast.Name | ast.Attribute)
    }
    return bool(found & _WORDS_OF_USERS)


def _fixed_host(call: PythonCall) -> str:
    """Return the host that stands in the code as where things go, unless it is a service that
    everybody knows, or this machine.
    """
    values = (*call.args[:2], call.keyword("url"), call.keyword("args"))
    for value in values:
        parts = value.const if isinstance(value.const, tuple) else (value.const,)
        for part in parts:
            found = _FOREIGN.search(part[:500]) if isinstance(part, str) else None
            if found and not is_this_machine(found[0]) and not _KNOWN_SERVICES.search(found[1]):
                return found[1]
    return ""


def outflow(call: PythonCall, labels: int, *, apart: bool = False) -> None:
    """Name what leaves the machine, the worst only."""
    worst = next((rule for label, rule in _OUTFLOW_RULES if labels & label), "")
    fixed = _fixed_host(call) if labels & _UNSEEN else ""
    if worst in ("SC329", "SC334", "SC332", "") and fixed and labels & WORK:
        worst = "SC350"
    elif worst in ("SC329", "SC334", "SC332") and fixed:
        unused = apart or call.walk.unused is call.node
        if unused and (apart or call.walk.quiet or labels & SWEPT):
            worst = "SC351"
        elif unused:
            call.fact("unused outflow")
    if worst:
        call.hit(worst)
    if labels & ENCODED:
        call.hit("SC347")
    elif labels & SECRET_ENV:
        call.hit("SC330")


def _network(call: PythonCall) -> TaintValue:
    sent = [value for key, value in call.kwargs.items() if key not in names.PAYLOAD_FREE]
    labels = labels_of((*call.args, *sent))
    for part in call.first.const if isinstance(call.first.const, tuple) else ():
        labels |= names.labels(part) if isinstance(part, str) else 0
    call.hit("SC390")
    call.fact("network")
    acts(call)
    hosts(call, labels)
    headers = call.keyword("headers").labels
    if headers & (CRED | ENV_ALL) and _fixed_host(call):
        labels |= headers & (CRED | ENV_ALL)
    outflow(call, labels)
    if call.walk.unused is call.node and _tells(call) and _fixed_host(call):
        call.hit("SC350")
    if call.keyword("verify").const is False:
        call.hit("SC317")
    if call.name.startswith("socket.") or call.attr == "connect":
        call.fact("connect")
    if call.name.endswith(("urlretrieve", "wget.download")) and len(call.args) > 1:
        note_fetched(call.walk, call.node.args[1], call.args[1])
    return call.result(NET)


def _maybe_network(call: PythonCall) -> TaintValue:
    """Take `x.post(…, json=…)` for a request even when nobody knows what `x` is."""
    if set(call.kwargs) & {"json", "data", "files", "headers", "params", "content"} or (
        isinstance(call.first.const, str) and "://" in call.first.const
    ):
        return _network(call)
    return TaintValue(call.labels | call.owner.labels)


def defer(call: PythonCall) -> TaintValue:
    """Take a request that is only handed on, to a thread or a pool, for one that is made."""
    call.hit("SC390")
    call.fact("network")
    hosts(call, call.labels)
    outflow(call, call.labels, apart=True)
    return NOTHING


def _lookup(call: PythonCall) -> TaintValue:
    if call.first.labels & (CARRIED | ENV) and call.first.labels & BUILT:
        call.hit("SC333")
    return NOTHING


# --- the rest


def _sleep(call: PythonCall) -> TaintValue:
    seconds = call.first.const
    if isinstance(seconds, int) and seconds >= LONG_SLEEP and not call.walk.branch:
        call.fact("long sleep")
    return NOTHING


def _just(rule: str, label: int = 0) -> CallReader:
    def note(call: PythonCall) -> TaintValue:
        call.hit(rule)
        return call.result(call.labels | label)

    return note


def _note(fact: str, label: int = 0) -> CallReader:
    def note(call: PythonCall) -> TaintValue:
        call.fact(fact)
        return TaintValue(call.labels | label)

    return note


def _unpickle(call: PythonCall) -> TaintValue:
    call.hit("SC323" if call.labels & NET else "SC395")
    return TaintValue(call.labels | DECODED)


def _right(call: PythonCall) -> TaintValue:
    if call.first.const == 0 or any(arg.const == "runas" for arg in call.args):
        call.hit("SC339")
    return NOTHING


def _setup(call: PythonCall) -> TaintValue:
    if "cmdclass" in call.kwargs:
        call.fact("cmdclass")
    return NOTHING


SINKS: dict[str, CallReader] = {
    "code": _code,
    "shell": _process,
    "process": _process,
    "network": _network,
    "maybe_network": _maybe_network,
    "lookup": _lookup,
    "decrypt": _note("decrypt", DECODED),
    "encrypt": _note("encrypt"),
    "unmarshal": _just("SC321", DECODED),
    "unpickle": _unpickle,
    "native": _just("SC322"),
    "secret": _just("SC305", CRED),
    "tls_off": _just("SC317"),
    "sleep": _sleep,
    "right": _right,
    "dup2": _note("dup2"),
    "bind_all": _note("bind"),
    "setup": _setup,
    "atexit": _note("atexit"),
    "deferred": defer,
}
"""Role -> reader, of all that acts and is not a file."""


_CONCLUSIONS = (
    ("SC315", "spy", "network"),
    ("SC307", "dup2|pty|bare shell", "connect|bind"),
    ("SC342", "encrypt", "walk", "delete", "write"),
    ("SC324", "install command", "cmdclass", "process|code|network"),
    ("SC327", "long sleep", "code|process"),
    ("SC351", "unused outflow", "atexit"),
)
"""Rules that several facts of a file meet together; each stands where its first fact does."""


def finish(walk: TaintWalk) -> None:
    """Draw the conclusions that need several facts of the file."""
    facts = walk.facts
    for rule, *needed in _CONCLUSIONS:
        known = [facts.keys() & names_of.split("|") for names_of in needed]
        if all(known):
            walk.hit(rule, facts[min(known[0])])
    watchers = [name for name in facts if name.startswith("watcher ")]
    if len(watchers) > 1:
        walk.hit("SC325", facts[watchers[0]])
    if len({name.partition("_")[0] for name in walk.secrets}) > 2:
        walk.hit("SC348", next(iter(walk.secrets.values())))
