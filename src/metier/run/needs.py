"""What a skill needs before it can work: said, asked for and kept. Runs nothing.

Where an answer is kept (MT-16): in the memory of the session, unless the caller or the
configuration names a store. The command line names the file, because a process of its own has no
session that would outlive it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.catalogue.digests import digest_of
from metier.discover import skill_files
from metier.discover.io import disk
from metier.errors import MetierError, RefusedError
from metier.model import Needs
from metier.resolve.needs import (
    help_of,
    missing_of,
    missing_servers,
    never_given,
    readiness_of,
    usable_names,
)
from metier.secrets.io.file_store import FileStore
from metier.secrets.io.system_keyring import KeyringStore
from metier.secrets.names import wrong_with
from metier.secrets.vault import SessionStore, Vault
from metier.standard.frontmatter import FRONTMATTER_BYTES
from metier.standard.needs import Ask, asks_of, read_needs, server_identity, server_text
from metier.trust.assess import assess_skill, full_decision_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.context import Context
    from metier.model import Card, Digest, Readiness, Sidecar, State, Tool

__all__ = [
    "Ask",
    "CredentialFile",
    "NeededServer",
    "Prepared",
    "Vault",
    "declared_by",
    "drop",
    "environment_of",
    "keep",
    "lent_to",
    "prepare",
    "setup",
    "vault",
]

MAX_TRIES = 3
"""How often one variable is asked for when the answer will not do."""


class NeededServer(NamedTuple):
    """An MCP server that a skill depends on (CX-50)."""

    name: str
    identity: str = ""
    """`mcp__{transport}__{url or command}`; nothing when the skill does not say enough."""
    transport: str = ""
    url: str = ""
    command: str = ""
    description: str = ""
    """What the skill says about it."""
    missing: bool = False
    offer: bool = False
    """Whether a person is to be offered to install it or to go on without: once in a session.

    Writing it into the agent's MCP configuration, and looking at its policy again before that, is
    the host's part: metier changes no other program's configuration.
    """


class CredentialFile(NamedTuple):
    """A file that a skill asks for, below the home folder (HE-21)."""

    path: str
    there: bool
    reason: str = ""
    """Why it does not count."""
    copied: bool = False
    """Whether it is reached through a link, and a run is therefore lent a copy of it: the link
    could be turned elsewhere."""


class Prepared(NamedTuple):
    """What a skill needs, what of it is missing, and how to get it. Names only: no value is in
    here.
    """

    name: str
    readiness: Readiness
    missing: dict[str, list[str]]
    asks: list[Ask]
    """The variables that it declares and may have."""
    refused: list[tuple[str, str]]
    """Those that it declares and never gets, each with the reason (HE-20)."""
    servers: list[NeededServer]
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
    interface: dict[str, str]
    """How `agents/openai.yaml` wants it shown."""
    dependencies: list[Tool]
    """All tools that `agents/openai.yaml` names; a `cli` is only told of, and never checked for."""
    commands: list[str]
    """What gets the skills that are missing."""


def vault(context: Context) -> Vault:
    """Give the stores of this library as one: the session's, the file, the keyring, then the
    process environment.
    """
    data = context.data
    stores = (
        SessionStore(context.session.secrets),
        FileStore(data, context.home),
        KeyringStore(data, context.home),
    )
    return Vault(stores, context.env, context.settings.secrets_refused)


def prepare(context: Context, name: str) -> Prepared:
    """Say what a skill needs, what of it is missing, and how to get it. Only its frontmatter is
    read for that.
    """
    card = context.catalogue.resolve(name)
    needs, asks, sidecar = _declared(card)
    usable = usable_names(context.catalogue.contents().cards) if needs.skills else None
    missing = missing_of(needs, context.machine, context.settings, usable)
    never = never_given((ask.name for ask in asks), context.machine)
    readiness, reason = readiness_of(missing, needs.systems, context.platform, never)
    if _is_gated(card):
        readiness = card.readiness
        reason = card.reasons[0]
    try:
        vault(context).names()
        problems = []
    except MetierError as error:  # what lies in a store that cannot be used counts as missing
        problems = [error.message]
    return Prepared(
        name=card.name,
        readiness=readiness,
        missing=missing,
        asks=[ask for ask in asks if ask.name not in never],
        refused=list(never.items()),
        servers=_servers(needs, sidecar, context.settings.mcp_servers),
        setup_help=help_of(needs, missing),
        files=[_file(context, path) for path in needs.files],
        path=card.path,
        digest=digest_of(context, card),
        state=card.state,
        stored=[],
        skipped=[],
        problems=problems,
        reason=reason,
        interface=sidecar.interface,
        dependencies=list(sidecar.tools),
        commands=_commands(context, card) if missing.get("skills") else [],
    )


def _commands(context: Context, card: Card) -> list[str]:
    """Give the command that gets each skill which is missing."""
    from metier.supply.tree import commands_for  # few skills need others

    return commands_for(context, card)


def _is_gated(card: Card) -> bool:
    """Tell whether a gate holds a skill back because it is for another system; its own prose about
    systems is no gate.
    """
    return card.held == "gate" and card.readiness == "unsupported"


def setup(
    context: Context,
    name: str,
    ask: Callable[[Ask], str | None],
    *,
    store: str = "",
    consent: bool = False,
) -> Prepared:
    """Ask for what a skill declares and lacks, once each, and keep what is given; `ask` gives
    nothing to skip.

    First what it needs, then what it can do without. A skill that may not be loaded or run is not
    asked for either: its words are then a stranger's wish for a secret. `consent` is a person's yes
    where loading asks for one. Nothing is kept before every question is answered.
    """
    card = context.catalogue.resolve(name)
    _may_ask(context, card, consent=consent)
    before = prepare(context, card.path)
    lacking = [one for one in before.asks if one.name in before.missing["env"]]
    session = context.session
    kind = store or context.settings.secret_store or "session"
    secrets = vault(context)
    spare = [one for one in before.asks if one.optional and not context.machine.has_env(one.name)]
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
        log.record(
            context,
            "setup",
            "stored",
            name=card.name,
            digest=before.digest,
            path=card.path,
            variables=list(given),
            store=kind,
        )
        context.catalogue.rejudge()
    after = prepare(context, card.path) if given else before
    return after._replace(
        stored=list(given),
        skipped=[one.name for one in lacking if one.name not in given],
        servers=[_offered(context, server) for server in after.servers],
        problems=[*after.problems, *problems],
    )


def environment_of(context: Context, name: str) -> dict[str, str]:
    """Give the values that a skill declares and may have: for its own run, and for nothing else."""
    return lent_to(context, context.catalogue.resolve(name))[0]


def lent_to(context: Context, card: Card) -> tuple[dict[str, str], list[CredentialFile]]:
    """Give the values that these very files declare and may have, and the files that they ask
    for.
    """
    needs, asks, _sidecar = _declared(card)
    return vault(context).granted(ask.name for ask in asks), [
        _file(context, path) for path in needs.files
    ]


def _declared(card: Card) -> tuple[Needs, tuple[Ask, ...], Sidecar]:
    fields = skill_files.fields_of(card)
    sidecar = skill_files.sidecar_beside(card)
    return read_needs(fields, {}, sidecar)[1] or Needs(), asks_of(fields, sidecar), sidecar


def _servers(needs: Needs, sidecar: Sidecar, present: Sequence[str] | None) -> list[NeededServer]:
    lacking = set(missing_servers(needs.servers, present))
    told = {server_text(tool): tool for tool in sidecar.tools if tool.type == "mcp"}
    found: list[NeededServer] = []
    for text in needs.servers:
        name = text.partition("|")[0]
        server = NeededServer(name, missing=name in lacking)
        if tool := told.get(text):
            server = server._replace(
                identity=server_identity(tool),
                transport=tool.transport or "streamable_http",
                url=tool.url,
                command=tool.command,
                description=tool.description,
            )
        found.append(server)
    return found


def _offered(context: Context, server: NeededServer) -> NeededServer:
    """Offer a missing server once in a session (CX-50)."""
    key = server.identity or f"mcp:{server.name}"
    if not server.missing or key in context.session.asked:
        return server
    context.session.asked.add(key)
    return server._replace(offer=True)


def _file(context: Context, path: str) -> CredentialFile:
    real = context.machine.file_of(path)
    plain = path.removeprefix("~/")
    if real is not None:
        direct = disk.absolute(plain, disk.real(context.home or "/"), context.home)
        return CredentialFile(path, there=True, copied=real != direct)
    if plain.startswith(("/", "~")) or ".." in plain.split("/"):
        return CredentialFile(path, there=False, reason="it does not lie in the home folder")
    if disk.kind_of(f"{context.home}/{plain}") is None:
        return CredentialFile(path, there=False, reason="it is not there")
    return CredentialFile(
        path,
        there=False,
        reason="it leads out of the home folder, is no file, or is the host's own",
    )


def _may_ask(context: Context, card: Card, *, consent: bool) -> None:
    """Refuse to ask a person for anything on behalf of a skill that may not be loaded."""
    if card.held in {"disabled", "invalid"}:
        raise RefusedError(
            f"'{card.name}' is {card.state}: {card.reasons[0]}",
            hint=f"see: metier why {card.name}",
            code=card.held,
        )
    if _is_gated(card):
        raise RefusedError(
            f"'{card.name}' does not work here, so nothing is asked for it: {card.reasons[0]}",
            code="unsupported",
            hint=f"see: metier why {card.name}",
        )
    standing = full_decision_of(context, assess_skill(context, card))
    action = standing.phases["load"]
    if "block" in {action, standing.phases["run"]}:
        what = "loaded" if action == "block" else "run"
        raise RefusedError(
            f"'{card.name}' may not be {what}, so nothing is asked for it: "
            f"{'; '.join(standing.reasons)}",
            code="blocked",
            hint=f"see: metier trust show {card.name}",
        )
    if action == "ask" and not consent:
        raise RefusedError(
            f"'{card.name}' needs your approval before anything is asked for it",
            code="ask",
            hint=f"look at it: metier show {card.name}; then: metier trust approve {card.name}",
        )


def _answer(one: Ask, ask: Callable[[Ask], str | None], problems: list[str]) -> str:
    """Ask for one value until it will do, it is skipped, or it was asked for often enough."""
    for _attempt in range(MAX_TRIES):
        value = ask(one)
        if not value:
            return ""
        wrong = wrong_with(value)
        if not wrong:
            return value.strip()
        one = one._replace(problem=wrong)
    problems.append(f"{one.name}: {one.problem}")
    return ""


# --- secrets by name


def keep(context: Context, name: str, value: str, store: str) -> None:
    """Keep a value that a person gives, whichever skill will ask for it, and note the name down."""
    vault(context).put(name, value, store)
    log.record(context, "secret", "stored", variables=[name], store=store)
    context.catalogue.rejudge()


def drop(context: Context, name: str) -> bool:
    """Forget a value wherever it is kept; tell whether there was one."""
    dropped = vault(context).drop(name)
    if dropped:
        log.record(context, "secret", "dropped", variables=[name])
        context.catalogue.rejudge()
    return dropped


def declared_by(context: Context, wanted: Sequence[str]) -> dict[str, list[str]]:
    """Give the names of the listed skills that declare each of these variables."""
    found: dict[str, list[str]] = {name: [] for name in wanted}
    mentions = [name.upper().encode() for name in wanted]
    for card in context.catalogue.skills() if wanted else ():
        # Most skills cannot declare one of them at all, and need not be read closely.
        paths = (skill_files.main_file(card), f"{card.path}/agents/openai.yaml")
        written = b"\n".join(disk.read_head(path, FRONTMATTER_BYTES).data for path in paths)
        plain = written.upper().replace(b"-", b"_")
        for ask in _declared(card)[1] if any(name in plain for name in mentions) else ():
            if ask.name in found:
                found[ask.name].append(card.name)
    return found
