"""What a version of a skill may do, as plain words: so that an update which wants more than the
last one is told from the others.

Declared are tools, variables, files, commands, packages, servers and other skills. Shown by its
files are languages, programs and hooks, in its scripts the secrets that they read and what they
delete, and wherever it is said that something is sent or fetched. Found by a scan is what its
content does. What only tells how a text is written (hidden, obscured, insistent) is no capability;
the verdict weighs that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from metier.audit.redact import is_secret_name
from metier.discover.entries import SIDECAR_BYTES
from metier.scan.languages.kinds import BINARY_KINDS, CODE_KINDS, PROSE_KINDS, claim_of
from metier.scan.report import CATEGORY_ABILITIES
from metier.standard.characters import escape_for_terminal
from metier.standard.document import read_document
from metier.standard.names import one_line
from metier.standard.needs import read_needs, split_tools
from metier.standard.sidecar import read_sidecar

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from metier.model import Document, Finding, Sidecar, Texts
    from metier.standard.digest import TreeFile

MAX_CAPABILITIES = 1_000
"""No honest skill has so many capabilities; the rest of such a list is left out and said to be
more."""
MAX_WORD_CHARS = 200
_NEEDS = {
    "variable": "env",
    "file": "files",
    "command": "commands",
    "tool": "tools",
    "package": "packages",
    "server": "servers",
    "skill": "skills",
}
CHOSEN_BY_MODEL = "may be chosen by the model itself"
"""What every skill may that does not say otherwise."""
_OPAQUE = {"archive": "an archive", "executable": "a program", "bytecode": "compiled code"}


def capabilities(
    fields: Mapping[str, Any],
    files: Iterable[tuple[str, bool | str]],
    findings: Iterable[Finding],
    sidecar: Sidecar | None = None,
    scripts: Iterable[tuple[str, str]] = (),
    prose: Iterable[str] = (),
    too_long: Iterable[str] = (),
) -> frozenset[str]:
    """Gather what a version may do: its frontmatter, the path and mode of each file, what a scan
    found, the path and text of each script, whatever else can be read, and what is too long to be.
    """
    found: set[str] = set()
    for word in (
        *_declared(fields, sidecar),
        *_carried(files),
        *(
            CATEGORY_ABILITIES[one.category][1]
            for one in findings
            if one.category in CATEGORY_ABILITIES
        ),
        *(word for path, text in scripts for word in _done_in(path, text)),
        *(_USES_NETWORK for text in prose if _prose_reaches(text)),
        *too_long,
    ):
        if len(found) == MAX_CAPABILITIES:
            return frozenset({*found, _MORE})
        found.add(_short(word))
    return frozenset(found)


MAX_DOCUMENT_BYTES = 1 << 20
"""How much of a SKILL.md is read to see what it declares."""
_SIDECAR = "agents/openai.yaml"


def capabilities_of(
    files: Mapping[str, TreeFile], read: Callable[[str], bytes], findings: Iterable[Finding]
) -> frozenset[str]:
    """Say what a version may do, by its files, wherever they lie."""
    document = document_of(files, read, "")
    sidecar = files.get(_SIDECAR)
    beside = None
    if sidecar is not None and sidecar.size < SIDECAR_BYTES:
        beside = read_sidecar(read(_SIDECAR))
    carried = ((path, one.mode) for path, one in files.items())

    def text_of(path: str) -> str:
        return read(path)[:MAX_DOCUMENT_BYTES].decode("utf-8-sig", "replace")

    scripts = [path for path, one in files.items() if _is_script(path, one.mode)]
    prose = [path for path, one in files.items() if _is_prose(path, one.mode)]
    long = {path for path, one in files.items() if one.size > MAX_DOCUMENT_BYTES}
    fields = document.fields if document else {}
    return capabilities(
        fields,
        carried,
        findings,
        beside,
        ((path, text_of(path)) for path in scripts if path not in long),
        (text_of(path) for path in prose if path not in long),
        (
            f"{_TOO_LONG} {path} {files[path].sha256.hex()}"
            for path in dict.fromkeys([*scripts, *prose])
            if path in long
        ),
    )


def document_of(
    files: Mapping[str, TreeFile], read: Callable[[str], bytes], folder: str
) -> Document | None:
    """Read a version's own file; nothing where it has none."""
    for path in ("SKILL.md", *sorted(files)):
        if path.lower() == "skill.md" and path in files:
            data = read(path)[:MAX_DOCUMENT_BYTES]
            return read_document(data, folder=folder, file=path, size=len(data))
    return None


def gained(old: frozenset[str], new: frozenset[str]) -> Texts:
    """Give what the new version may do and the old one may not."""
    return tuple(sorted(new - old))


_MORE = "more than can be listed"
_CUT = "…"


def gained_by_edit(
    old: Mapping[str, TreeFile],
    new: Mapping[str, TreeFile],
    could: frozenset[str],
    can: frozenset[str],
) -> Texts:
    """Give what an edited skill has that it had not before: a capability, another script or program,
    another link. A list that is cut short says nothing, so it counts as more.
    """
    programs = (
        f"the file {_short(path)}"
        for path, file in new.items()
        if _is_more(old.get(path), file) and any(_carried([(path, file.mode)]))
    )
    links = (
        f"the link {_short(path)}"
        for path, file in new.items()
        if file.mode == "link" and old.get(path) != file
    )
    unclear = (word for word in can if word == _MORE or word.endswith(_CUT))
    return tuple(sorted({*gained(could, can), *unclear, *programs, *links}))


def _is_more(before: TreeFile | None, after: TreeFile) -> bool:
    return before is None or (after.mode is True and before.mode is not True)


def _declared(fields: Mapping[str, Any], sidecar: Sidecar | None) -> Iterator[str]:
    for key in ("allowed-tools", "allowed_tools"):  # some agent may read either
        tools, _problem = split_tools(fields.get(key))
        yield from (f"tool {tool}" for tool in tools)
    gates, needs, _found = read_needs(fields, {}, sidecar)
    if gates is None or not gates.model_hidden:
        yield CHOSEN_BY_MODEL
    for word, kind in _NEEDS.items() if needs is not None else ():
        yield from (f"{word} {name}" for name in getattr(needs, kind))
    hooks = fields.get("hooks")
    if isinstance(hooks, dict):
        yield from (f"hook {event}" for event in hooks)
    elif hooks:
        yield "hooks"


def _carried(files: Iterable[tuple[str, bool | str]]) -> Iterator[str]:
    for path, mode in files:
        kind = claim_of(path)
        if kind in _OPAQUE:
            yield f"carries {_OPAQUE[kind]}"
        elif kind in CODE_KINDS:
            yield f"scripts in {kind}"
        elif mode is True:
            yield "an executable file"
        *folders, name = path.lower().split("/")
        if "hooks" in folders or name in {"hooks.json", "hooks.toml", "hooks.yaml"}:
            yield "hooks"
        if name in {".mcp.json", "mcp.json"}:
            yield "servers"


# --- what a script reads, deletes and reaches

_TOO_LONG = "a text that is too long to be looked through:"
_SECRETS = re.compile(
    r"\b[A-Z][A-Z0-9_]{2,127}\b"
    r"|(?:environ(?:\.\w+)?|getenv|env::var|process\.env|\bENV(?:\.fetch)?|\$\{?env:|printenv)"
    r"[\s\[(.\"']*([A-Za-z_]\w{2,127})"
)
"""Names that may be of variables: in capitals anywhere, in other letters where one is read."""
_MORE_SECRETS = re.compile(
    r"(?:^|_)(?:KEYS?|PAT|AUTH|CREDS?|CREDENTIALS?|PASS|PASSPHRASE|COOKIES?|DSN)(?:_|$)",
    re.IGNORECASE,
)
_ALL_VARIABLES = re.compile(
    r"\bos\.environ\b(?!\s*(?:\[|\.(?:get|pop|setdefault)\b))"
    r"|\bprocess\.env\b(?!\s*[.\[])"
    r"|(?:^|[|;&(])[ \t]*(?:printenv|env|export -p|declare -x)[ \t]*(?:$|[|>;&)])"
    r"|\benv:(?![\w])",
    re.IGNORECASE | re.MULTILINE,
)
_DELETES = re.compile(
    r"(?:^|[\s;|&(`{\"'])(?:rm|rmdir|unlink|shred|srm|trash|del|erase|rd|ri)\s+[^\s=:,)]"
    r"|\bRemove-Item\b|\s-delete\b"
    r"|(?:rmtree|removedirs|unlink|unlinkSync|rmSync|rmdir|rmdirSync|rimraf|RemoveAll|rm_rf|rm_r"
    r"|remove_entry\w*|send2trash|(?:os|fs|fsp|promises|File|FileUtils|Files|shutil)"
    r"\.(?:remove|rm|rm_f|delete))\s*\(",
    re.IGNORECASE,
)
_USES_NETWORK = CATEGORY_ABILITIES["network"][1]
_COMPUTED_IMPORT = re.compile(
    r"\b(?:__import__|import_module)\(\s*(?![\"'][\w.]+[\"']\s*[,)])(?=\S)"
)
_KEYRINGS = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+(?:keyring|secretstorage)\b"
    r"|\bsecret-tool[ \t]+(?:lookup|search)\b|\bsecurity[ \t]+find-\w+-password\b"
    r"|\bop[ \t]+read\b|\bvault[ \t]+(?:kv[ \t]+get|read)\b|\bgh[ \t]+auth[ \t]+token\b",
    re.MULTILINE,
)
_OWN_FOLDER = re.compile(
    r"dirname|BASH_SOURCE|__file__|__dirname|__DIR__|PSScriptRoot|import\.meta|SKILL_DIR|%~dp0"
)
"""What a script calls the folder that it lies in."""


def _is_script(path: str, mode: bool | str) -> bool:  # noqa: FBT001 - as a file has it
    kind = claim_of(path)
    if mode == "link" or kind in _OPAQUE or kind in BINARY_KINDS:
        return False
    return mode is True or kind not in PROSE_KINDS


def _is_prose(path: str, mode: bool | str) -> bool:  # noqa: FBT001 - as a file has it
    return mode != "link" and claim_of(path) in {"markdown", "text"}


def _done_in(path: str, script: str) -> Iterator[str]:
    """Say which secrets a script reads, whether it reaches the network, and what it deletes that
    does not evidently lie in its own folder: line by line, since nobody can tell what another line
    deletes.
    """
    if _script_reaches(path, script):
        yield _USES_NETWORK
    if _COMPUTED_IMPORT.search(script):
        yield "imports what it computes the name of"
    if _KEYRINGS.search(script):
        yield "reads a keyring"
    for found in _SECRETS.finditer(script):
        name = found[1] or found[0]
        if is_secret_name(name) or _MORE_SECRETS.search(name):
            yield f"variable {name}"
    if _ALL_VARIABLES.search(script):
        yield "every variable"
    for line in script.splitlines():
        if _DELETES.search(line) and (".." in line or not _OWN_FOLDER.search(line)):
            yield f"deletes with: {line.strip()}"


# --- what reaches the network: a script by what it imports, opens or calls, and a text by what it
# has sent or fetched. An address that is only given is neither: one in a script counts where it is
# handed to something that does not print it, and one in a text where the sentence before it sends
# something there, or fetches or opens what lies there.

MAX_LEAD_CHARS = 120
"""How much before an address may say what is done with it."""
_LOOPBACK = (
    r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])"
    r"(?::[%${]{0,2}\w{0,40}\}?)?(?=[/?#\s\"'`)\]>|*]|[.,;!:](?:\s|\Z)|\Z)"
)
"""A whole host: what only begins like this machine's name may be any other, and what stands before
an `@` is none.
"""
_ADDRESS = rf"(?i:\b(?:https?|wss?|ftps?)://(?!{_LOOPBACK}))"

_PYTHON_NETWORK = (
    r"(?:socket(?:server)?|ssl|ftplib|smtplib|poplib|imaplib|nntplib|telnetlib|xmlrpc"
    r"|http\.(?:client|server)|urllib\.request|urllib[23]|requests|httpx2?|aiohttp|websockets?"
    r"|pycurl|boto3?|botocore|google\.cloud|azure|paramiko|fabric|grpc|zmq|pika|redis|scapy|dns"
    r"|flask|fastapi|uvicorn|starlette|tornado|twisted)\b"
)
_IMPORTED = re.compile(_PYTHON_NETWORK)
_REACHES = re.compile(
    r"(?:^|[;:({\"'`])[ \t]*(?:from[ \t]{1,8}(?:(?:urllib|http|google)[ \t]{1,8}import[ \t(]{1,8}"
    r"(?:[\w, \t]{0,80}\b)?(?:request|client|server|cloud)\b"
    rf"|{_PYTHON_NETWORK})|import[ \t](?:[\w., \t]{{0,200}}[ ,\t])?{_PYTHON_NETWORK})"
    rf"|(?:__import__|import_module)\(\s*[\"']{_PYTHON_NETWORK}"
    r"|/dev/(?:tcp|udp)/"
    r"|\b(?:std|tokio)::net\b|\b(?:reqwest|hyper|ureq)::"
    r"|\bjava\.net\.(?!UR[IL]Encoder|URI\b)|\bSystem\.Net\b"
    r"|<(?:sys/socket|netdb|curl/curl)\.h>",
    re.MULTILINE,
)
"""Ways to the network, where a scan may see only a name: Python, a shell, Rust, Java, C#, C."""
_GO_REACHES = re.compile(r"\"net(?:/(?:http|rpc|smtp))?\"")
_HANDED = re.compile(rf"\(\s*[\"'`]{_ADDRESS}")
_PRINTS = re.compile(
    r"\b(?:(?i:[fs]?print(?:f|ln|_\w{1,20})?|pprint|s?echo|log|logf|debug|info|notice|warn"
    r"|warning|error|critical|fatal|exception|trace|puts|say|(?:stdout|stderr)\.write)"
    r"|[A-Z]\w{0,40}(?:Error|Exception|Warning))\s{0,4}\Z"
)
"""A callee that only shows what it is given."""
MAX_CALLEE_CHARS = 60


def _script_reaches(path: str, script: str) -> bool:
    """Tell whether a script reaches the network, where a scan may see only a name or a call."""
    return (
        _REACHES.search(script) is not None
        or (path.lower().endswith(".go") and _GO_REACHES.search(script) is not None)
        or any(
            not _PRINTS.search(script[max(0, call.start() - MAX_CALLEE_CHARS) : call.start()])
            for call in _HANDED.finditer(script)
        )
        or (claim_of(path) in {"python", ""} and any(map(_IMPORTED.match, _imports(script))))
    )


def _imports(script: str) -> Iterator[str]:
    """Give what Python code imports, by its dotted names; nothing of what is not Python."""
    import ast  # few skills were edited

    tree = _tree(script) if "import" in script else None
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{one.name}" for one in node.names)


def _tree(script: str) -> ast.Module | None:
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(script)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_PLACE = re.compile(
    rf"{_ADDRESS}(?![\s`\"'*)])|(?<=[\s`\"'(<*])(?P<host>(?:[a-z\d-]{{1,63}}\.){{1,5}}[a-z]{{2,24}})(?=/[\w~?])",
    re.IGNORECASE,
)
"""An address, or a host and what lies there. A name that ends as most files do is no host."""
_SENTENCE_END = re.compile(
    r"[.!?](?=\s)|(?<!:)(?<!:\n)\n[ \t]*(?:\n|[-*+>#|]|\d{1,3}[.)]|(?=[\w-]{1,40}:\s))"
)
"""A block that follows a colon goes on with its sentence."""
_HANDLES = re.compile(
    r"\b(?:fetch|download|retrieve|curl|wget|web_?fetch|browse|visit|upload|send|submit)\b(?!-)"
    r"|\b(?:open|call|post|get|read)\W{1,8}\Z",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\b(?:refer|link|point|redirect|resolve|default|move|migrate|relate|belong|compare|accord"
    r"|equal|similar|equivalent|change|rename|expand|credit|thank|attribut|pertain|relative"
    r"|bug|issue|problem|question)\w{0,4}\W{1,8}to\W{1,8}\Z",
    re.IGNORECASE,
)
_GOES = re.compile(r"(?<![\w.-])(?:in|on)?to\W{1,8}\Z", re.IGNORECASE)
_SENDS = re.compile(
    r"\b(?:post|push|forward|share|transmit|publish|sync|back\W{1,3}up|e?-?mail|relay|stream"
    r"|deliver|copy|mirror|export|transfer|replicate|exfiltrate)\b(?!-).{0,80}\b(?:in|on)?to\b",
    re.IGNORECASE | re.DOTALL,
)


def _prose_reaches(text: str) -> bool:
    """Tell whether a text has something sent or fetched, as against a link that is only given."""
    return any(
        claim_of(place["host"] or "") in {"", "shell"} and _is_used(lead)
        for place, lead in _places(text)
    )


def _places(text: str) -> Iterator[tuple[re.Match[str], str]]:
    for place in _PLACE.finditer(text):
        lead = text[max(0, place.start() - MAX_LEAD_CHARS) : place.start()]
        ends = [end.end() for end in _SENTENCE_END.finditer(lead)]
        yield place, lead[ends[-1] :] if ends else lead


def _is_used(lead: str) -> bool:
    if _HANDLES.search(lead) or _SENDS.search(lead):
        return True
    return bool(_GOES.search(lead)) and not _REFERS.search(lead)


def _short(word: str) -> str:
    line = escape_for_terminal(one_line(word[: 4 * MAX_WORD_CHARS]))
    return line if len(line) <= MAX_WORD_CHARS else f"{line[:MAX_WORD_CHARS]}{_CUT}"
