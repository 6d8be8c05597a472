"""What a skill needs before it can work: said, asked for and kept; and how one of its scripts would be run. Runs nothing.

Where an answer is kept (decision 16): in the memory of the session, unless the caller or the configuration names a store. The
command line names the file, because a process of its own has no session that would outlive it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import recording, skillfile
from metier.disclose import levels
from metier.discover import disk
from metier.errors import MetierError, RefusedError
from metier.model import Needs
from metier.resolve.needs import help_of, missing_of, missing_servers, never_given, readiness_of, usable_names
from metier.secrets.db import KeyringStore
from metier.secrets.disk import FileStore
from metier.secrets.memory import SessionStore
from metier.secrets.names import wrong_with
from metier.secrets.vault import Vault
from metier.standard.asks import Ask, asks_of
from metier.standard.frontmatter import FRONTMATTER_BYTES
from metier.standard.needs import read_needs, server_identity, server_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.app import Library
    from metier.model import Action, Card, Digest, Readiness, Sidecar, State

__all__ = ["Ask", "CredentialFile", "Prepared", "RunPlan", "Server", "Vault", "declared_by", "drop", "environment_of",
           "interpreter_of", "keep", "lent_to", "plan_run", "prepare", "setup", "vault"]  # fmt: skip

TRIES = 3
"""How often one variable is asked for when the answer will not do."""
SCRIPT_HEAD = 256
NEEDS_YES = "running it needs a person's yes"
UNREAD = "it cannot be read whole: it has more than metier reads, what is no plain file, or what you may not read"
INTERPRETERS = {"py": "python3", "sh": "sh", "bash": "bash", "zsh": "zsh", "js": "node", "mjs": "node", "cjs": "node", "rb": "ruby",
                "pl": "perl", "php": "php", "r": "Rscript", "lua": "lua"}  # fmt: skip
_KNOWN = frozenset({*INTERPRETERS.values(), "python", "deno", "bun", "tsx"})


class Server(NamedTuple):
    """An MCP server that a skill depends on (CX-50)."""

    name: str
    identity: str
    """`mcp__{transport}__{url or command}`; nothing when the skill does not say enough."""
    transport: str
    url: str
    command: str
    missing: bool
    offer: bool = False
    """Whether a person is to be offered to install it or to go on without: once in a session.

    Writing it into the agent's MCP configuration, and looking at its policy again before that, is the host's part: metier
    changes no other program's configuration.
    """


class CredentialFile(NamedTuple):
    """A file that a skill asks for, below the home folder (HE-21)."""

    path: str
    there: bool
    reason: str = ""
    """Why it does not count."""
    copied: bool = False
    """Whether it is reached through a link, and a run is therefore lent a copy of it: the link could be turned elsewhere."""


class Prepared(NamedTuple):
    """What a skill needs, what of it is missing, and how to get it. Names only: no value is in here."""

    name: str
    readiness: Readiness
    missing: dict[str, list[str]]
    asks: list[Ask]
    """The variables that it declares and may have."""
    refused: list[tuple[str, str]]
    """Those that it declares and never gets, each with the reason (HE-20)."""
    servers: list[Server]
    setup_help: str
    files: list[CredentialFile]
    path: str
    digest: Digest | None
    state: State
    stored: list[str]
    """What was given now and is kept."""
    skipped: list[str]
    """What is missing and was not given, or was asked for before in the same conversation."""
    problems: list[str]
    reason: str
    """Why it is not available, in words; nothing when it is."""


class RunPlan(NamedTuple):
    """How a script would be run: a value to look at before anything happens. To do as it says is the runner's part."""

    name: str
    script: str
    path: str
    interpreter: str
    arguments: list[str]
    environment: list[str]
    """Names of the variables that it would be given."""
    refused: list[str]
    """Names that it declares and is never given."""
    files: list[CredentialFile]
    """The files that it asks for: those that are `there` would be lent to read and not to write, and of one that is `copied`
    the runner makes the copy."""
    network: bool
    writable: list[str]
    allowed: bool
    """Whether nothing forbids it."""
    asks: bool
    """Whether a person has to say yes to this very run first."""
    reasons: list[str]
    digest: Digest | None


class _Declared(NamedTuple):
    needs: Needs
    asks: tuple[Ask, ...]
    sidecar: Sidecar | None


def vault(library: Library) -> Vault:
    """Give the stores of this library as one: the session's, the file, the keyring, then the process environment."""
    data, home = library.data, library.home
    stores = (SessionStore(library.session.secrets), FileStore(data, home), KeyringStore(data, home))
    return Vault(stores, library.env, library.settings.secrets_refused)


def prepare(library: Library, name: str) -> Prepared:
    """Say what a skill needs, what of it is missing, and how to get it. Only its frontmatter is read for that."""
    card = library.resolve(name)
    needs, asks, sidecar = _declared(card)
    missing = missing_of(needs, library.machine, library.settings, usable_names(library.contents().cards))
    never = never_given((ask.name for ask in asks), library.machine)
    readiness, reason = readiness_of(missing, needs.systems, library.platform, never)
    if _is_gated(card):
        readiness, reason = card.readiness, card.reasons[0]
    return Prepared(
        card.name, readiness, missing, [ask for ask in asks if ask.name not in never], list(never.items()),
        _servers(needs, sidecar, library.settings.mcp_servers), help_of(needs, missing),
        [_file(library, path) for path in needs.files], card.path, library.digest(card), card.state, [], [], _troubles(library),
        reason,
    )  # fmt: skip


def _is_gated(card: Card) -> bool:
    """Tell whether a gate holds a skill back because it is for another system; its own prose about systems is no gate."""
    return card.held == "gate" and card.readiness == "unsupported"


def setup(library: Library, name: str, ask: Callable[[Ask], str | None], *, store: str = "", consent: bool = False) -> Prepared:
    """Ask for what a skill declares and lacks, once each, and keep what is given; `ask` gives nothing to skip.

    First what it needs, then what it can do without. A skill that may not be loaded or run is not asked for either: its words
    are then a stranger's wish for a secret. `consent` is a person's yes where loading asks for one. Nothing is kept before
    every question is answered.
    """
    card = library.resolve(name)
    _may_ask(library, card, consent=consent)
    before = prepare(library, card.path)
    lacking = [one for one in before.asks if one.name in before.missing["env"]]
    session = library.session
    kind = store or library.settings.secret_store or "session"
    secrets = vault(library)
    spare = [one for one in before.asks if one.optional and not library.machine.has_env(one.name)]
    fresh = [one for one in (*lacking, *spare) if one.name not in session.asked]
    if fresh:
        secrets.ready(kind)
    problems: list[str] = []
    given: dict[str, str] = {}
    for one in fresh:
        value = _answer(one, ask, problems)
        session.asked.add(one.name)
        if value:
            given[one.name] = value
    for variable, value in given.items():
        secrets.put(variable, value, kind)
    if given:
        recording.record(library, "setup", "stored", name=card.name, digest=before.digest, path=card.path, variables=list(given),
                         store=kind)  # fmt: skip
        library.rejudge()
    after = prepare(library, card.path) if given else before
    return after._replace(
        stored=list(given), skipped=[one.name for one in lacking if one.name not in given],
        servers=[_offered(library, server) for server in after.servers], problems=[*after.problems, *problems],
    )  # fmt: skip


def plan_run(library: Library, name: str, script: str, arguments: Sequence[str] = ()) -> RunPlan:
    """Say how a script of a skill would be run, and whether it may be. Nothing is run, and a store that fails is a reason."""
    ready = prepare(library, name)
    card = library.resolve(name)
    reasons: list[str] = []
    path = _script(card, script, reasons)
    extra = library.settings.run.interpreters
    interpreter = interpreter_of(path, disk.read_head(path, SCRIPT_HEAD).data, extra) if path else ""
    if path and not interpreter:
        reasons.append(f"no interpreter is known for {script or path}, by its first line or the end of its name")
    action = _forbidden(library, card, reasons)
    given, troubles = _granted(library, ready.asks)
    lacking = readiness_of(ready.missing, (), library.platform, dict(ready.refused))[1]
    reasons += [text for text in (lacking, *troubles) if text]
    if ready.digest is None:
        reasons.append(UNREAD)
    allowed, asked = not reasons, action == "ask" or card.state == "ask"
    if ready.reason and ready.reason not in reasons:
        reasons.append(ready.reason)  # its own words about systems are worth a word, and forbid nothing
    if asked:
        reasons.append(NEEDS_YES)
    return RunPlan(card.name, script or path.rpartition("/")[2], path, interpreter, list(arguments), given,
                   [name for name, _why in ready.refused], ready.files, network=False, writable=[], allowed=allowed, asks=asked,
                   reasons=reasons, digest=ready.digest)  # fmt: skip


def _granted(library: Library, asks: Sequence[Ask]) -> tuple[list[str], list[str]]:
    """Name the variables that a run would be given; where a store cannot be used, none, and what is wrong with it."""
    try:
        return list(vault(library).granted(ask.name for ask in asks)), []
    except MetierError as error:
        return [], [error.message]


def _forbidden(library: Library, card: Card, reasons: list[str]) -> Action:
    """Give what policy does when the skill is run, and the reasons when it may not be."""
    standing = library.trust(card.path)
    action = standing.phases["run"]
    if action == "block":
        reasons += [f"it is {standing.state}", *standing.reasons]
    elif card.state not in {"visible", "ask"} and card.held != "model":
        reasons += [f"it is {card.state}", *card.reasons]
    return action


def environment_of(library: Library, name: str) -> dict[str, str]:
    """Give the values that a skill declares and may have: for its own run, and for nothing else."""
    return lent_to(library, library.resolve(name))[0]


def lent_to(library: Library, card: Card) -> tuple[dict[str, str], list[CredentialFile]]:
    """Give the values that these very files declare and may have, and the files that they ask for."""
    needs, asks, _sidecar = _declared(card)
    return vault(library).granted(ask.name for ask in asks), [_file(library, path) for path in needs.files]


def interpreter_of(path: str, head: bytes, extra: Sequence[str] = ()) -> str:
    """Name the program that a script is for: by its first line, or by the end of its name; nothing when neither says so.

    `extra` are programs that the user allows beyond those that are known.
    """
    first = head.partition(b"\n")[0].decode("ascii", "replace")
    if first.startswith("#!"):
        words = [word.rpartition("/")[2] for word in first[2:].split() if not word.startswith("-")]
        named = next((word for word in words if word != "env"), "")
        if named in _KNOWN or named in extra:
            return named
    return INTERPRETERS.get(path.rpartition("/")[2].rpartition(".")[2].lower(), "")


def _declared(card: Card) -> _Declared:
    fields = skillfile.fields_of(card)
    sidecar = skillfile.sidecar_at(card.path) if card.kind == "skill-md" else None
    return _Declared(read_needs(fields, {}, sidecar)[1] or Needs(), asks_of(fields, sidecar), sidecar)


def _servers(needs: Needs, sidecar: Sidecar | None, present: Sequence[str] | None) -> list[Server]:
    lacking = set(missing_servers(needs.servers, present))
    told = {server_text(tool): tool for tool in sidecar.tools if tool.type == "mcp"} if sidecar else {}
    found: list[Server] = []
    for text in needs.servers:
        name, tool = text.partition("|")[0], told.get(text)
        transport = (tool.transport or "streamable_http") if tool else ""
        found.append(Server(name, server_identity(tool) if tool else "", transport, tool.url if tool else "",
                            tool.command if tool else "", name in lacking))  # fmt: skip
    return found


def _offered(library: Library, server: Server) -> Server:
    """Offer a missing server once in a session (CX-50)."""
    key = server.identity or f"mcp:{server.name}"
    if not server.missing or key in library.session.asked:
        return server
    library.session.asked.add(key)
    return server._replace(offer=True)


def _file(library: Library, path: str) -> CredentialFile:
    real, plain = library.machine.file_of(path), path.removeprefix("~/")
    if real is not None:
        direct = disk.absolute(plain, disk.real(library.home or "/"), library.home)
        return CredentialFile(path, there=True, copied=real != direct)
    if plain.startswith(("/", "~")) or ".." in plain.split("/"):
        return CredentialFile(path, there=False, reason="it does not lie in the home folder")
    if disk.kind_of(f"{library.home}/{plain}") is None:
        return CredentialFile(path, there=False, reason="it is not there")
    return CredentialFile(path, there=False, reason="it leads out of the home folder, is no file, or is the host's own")


def _troubles(library: Library) -> list[str]:
    """Say which store cannot be used: what lies in it then counts as missing."""
    try:
        vault(library).names()
    except MetierError as error:
        return [error.message]
    return []


def _may_ask(library: Library, card: Card, *, consent: bool) -> None:
    """Refuse to ask a person for anything on behalf of a skill that may not be loaded."""
    if card.held in {"disabled", "invalid"}:
        raise RefusedError(f"'{card.name}' is {card.state}: {card.reasons[0]}", hint=f"see: metier why {card.name}", code=card.held)
    if _is_gated(card):
        raise RefusedError(f"'{card.name}' does not work here, so nothing is asked for it: {card.reasons[0]}", code="unsupported",
                           hint=f"see: metier why {card.name}")  # fmt: skip
    standing = library.trust(card.path)
    action = standing.phases["load"]
    if "block" in {action, standing.phases["run"]}:
        what = "loaded" if action == "block" else "run"
        raise RefusedError(f"'{card.name}' may not be {what}, so nothing is asked for it: {'; '.join(standing.reasons)}",
                           code="blocked", hint=f"see: metier trust show {card.name}")  # fmt: skip
    if action == "ask" and not consent:
        raise RefusedError(f"'{card.name}' needs your approval before anything is asked for it", code="ask",
                           hint=f"look at it: metier show {card.name}; then: metier trust approve {card.name}")  # fmt: skip


def _answer(one: Ask, ask: Callable[[Ask], str | None], problems: list[str]) -> str:
    """Ask for one value until it will do, it is skipped, or it was asked for often enough."""
    for _attempt in range(TRIES):
        value = ask(one)
        if not value:
            return ""
        wrong = wrong_with(value)
        if not wrong:
            return value.strip()
        one = one._replace(problem=wrong)
    problems.append(f"{one.name}: {one.problem}")
    return ""


def _script(card: Card, script: str, reasons: list[str]) -> str:
    """Give the path of a script inside its skill; nothing, and the reason, when there is no such file."""
    if card.kind != "skill-md":
        if script in {"", card.path.rpartition("/")[2]} and card.kind == "code":
            return card.path
        reasons.append(f"'{card.name}' is a single file and has no script '{script}'")
        return ""
    try:
        target = f"{card.path}/{levels.safe_relative(script)}"
    except MetierError as error:
        reasons.append(error.message)
        return ""
    if disk.kind_of(target) != "file" or not disk.real(target).startswith(disk.real(card.path) + "/"):
        reasons.append(f"'{card.name}' has no script '{script}'")
        return ""
    return disk.real(target)


# --- secrets by name


def keep(library: Library, name: str, value: str, store: str) -> None:
    """Keep a value that a person gives, whichever skill will ask for it, and note the name down."""
    vault(library).put(name, value, store)
    recording.record(library, "secret", "stored", variables=[name], store=store)
    library.rejudge()


def drop(library: Library, name: str) -> bool:
    """Forget a value wherever it is kept; tell whether there was one."""
    dropped = vault(library).drop(name)
    if dropped:
        recording.record(library, "secret", "dropped", variables=[name])
        library.rejudge()
    return dropped


def declared_by(library: Library, wanted: Sequence[str]) -> dict[str, list[str]]:
    """Give the names of the listed skills that declare each of these variables."""
    found: dict[str, list[str]] = {name: [] for name in wanted}
    for card in library.skills() if wanted else ():
        for ask in _declared(card).asks if _mentions(card, wanted) else ():
            if ask.name in found:
                found[ask.name].append(card.name)
    return found


def _mentions(card: Card, wanted: Sequence[str]) -> bool:
    """Tell whether a skill can declare one of these variables at all: most need not be read closely."""
    paths = (skillfile.main_file(card), f"{card.path}/agents/openai.yaml")
    written = b"\n".join(disk.read_head(path, FRONTMATTER_BYTES).data for path in paths).upper().replace(b"-", b"_")
    return any(name.upper().encode() in written for name in wanted)
