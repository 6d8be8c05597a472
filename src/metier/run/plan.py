"""Plans how a script would be run and what it is granted: declared needs, cut down to what the user
allows and what the skill's standing permits. Runs nothing.

Nothing is granted by default but the skill's folder to read, a scratch folder, and the interpreter.
"""

from __future__ import annotations

import shlex
from posixpath import normpath
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.discover import skill_files
from metier.discover.io import disk
from metier.errors import MetierError
from metier.resolve.needs import readiness_of
from metier.run import needs
from metier.run.interpreters import BY_ENDING, interpreter_of, is_inside
from metier.run.model import (
    NETWORK_ACCESS,
    NOTHING_LENT,
    SCRATCH,
    UNDECLARED_NETWORK,
    Allowance,
    DeclaredPermissions,
    Lent,
    Mount,
    RunLimits,
)
from metier.run.sandbox.bwrap_arguments import has_itself
from metier.standard import skill_paths
from metier.standard.code import MAX_BYTES, read_code
from metier.trust.assess import assess_skill, full_decision_of
from metier.trust.load_gate import held_inside
from metier.trust.source_rules import is_ruled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.context import Context
    from metier.model import Card, Digest, Trust
    from metier.run.needs import CredentialFile, Prepared
    from metier.settings.model import RunSettings

    PathFinder = Callable[[str], tuple[str, str]]
    """Gives the real path of what a path names, or nothing and the reason why it cannot be lent."""


LEVELS_SETTINGS_MAY_GRANT = frozenset({"builtin", "own", "trusted", "verified"})
"""Levels whose declared wishes configuration alone may grant."""
MAX_PERMISSIONS = 32
"""How many wishes of one skill are read."""


def permissions_of(fields: Mapping[str, Any]) -> DeclaredPermissions:
    """Read what a skill declares: `permissions`, at the top or below `metadata`, or in
    `metadata.metier`.
    """
    metadata = fields.get("metadata")
    below = metadata if isinstance(metadata, dict) else {}
    own = below.get("metier")
    for table in (fields, own if isinstance(own, dict) else {}, below):
        listed = table.get("permissions")
        if listed is not None:
            return read_permissions(
                [listed] if isinstance(listed, str) else listed if isinstance(listed, list) else []
            )
    return DeclaredPermissions()


def read_permissions(words: Iterable[Any]) -> DeclaredPermissions:
    """Read a list of permissions: `network`, `read:FOLDER`, `write:FOLDER`. What means nothing is
    kept as that.
    """
    network = False
    reads: list[str] = []
    writes: list[str] = []
    unknown: list[str] = []
    for word in list(words)[:MAX_PERMISSIONS]:
        text = word.strip() if isinstance(word, str) else ""
        kind, _colon, path = text.partition(":")
        if text == "network":
            network = True
        elif kind in {"read", "write"} and path.strip():
            (reads if kind == "read" else writes).append(path.strip())
        else:
            unknown.append(str(word)[:80])
    return DeclaredPermissions(network, tuple(reads), tuple(writes), tuple(unknown))


def grant(
    wishes: DeclaredPermissions,
    lent: Lent,
    policy: RunSettings,
    level: Trust,
    place: PathFinder,
    lend: PathFinder | None = None,
) -> Allowance:
    """Decide what a run is granted.

    A path that the caller names is lent because they name it. A path that the skill names needs the
    user's configuration, and so does the network, or a yes to this run; but that yes goes no
    further than what the skill declares. A skill does without what it is not granted; what the
    caller lends and what cannot be lent is `unmet`, because they count on it. `lend` finds what the
    caller names, where that is stricter than `place`.
    """
    refused = [f"'{word}' is no permission that metier knows" for word in wishes.unknown]
    network, why_not = _grant_network(wishes, lent, policy, level)
    refused += [f"{NETWORK_ACCESS}{why_not}"] if why_not else []
    unmet: list[str] = []
    mounts: dict[str, Mount] = {}
    asked = (
        *((path, False, policy.reads) for path in wishes.reads),
        *((path, True, policy.writes) for path in wishes.writes),
        *((path, False, None) for path in lent.reads),
        *((path, True, None) for path in lent.writes),
    )
    for path, writable, allowed in asked:
        real, why = (lend or place if allowed is None else place)(path)
        if (
            not why
            and allowed is not None
            and not any(is_inside(real, one) for one, fault in map(place, allowed) if not fault)
        ):
            why = "the user's configuration does not allow it"
        if why:
            (unmet if allowed is None else refused).append(
                f"{path} {'to change' if writable else 'to read'}: {why}"
            )
        else:
            for seen in {real, real if allowed is not None else seen_at(path, real)}:
                mounts[seen] = Mount(
                    real, seen, writable or (seen in mounts and mounts[seen].writable)
                )
    return Allowance(network, _apart(mounts), bounds_of(policy, lent), tuple(refused), tuple(unmet))


def _apart(mounts: Mapping[str, Mount]) -> tuple[Mount, ...]:
    """Leave out second places that there cannot be: what the sandbox has itself, and links in what
    is lent, which are there and on which nothing can be mounted.
    """

    def through_link(mount: Mount) -> bool:
        return any(
            other.source + mount.target[len(other.target) :] != mount.source
            for other in mounts.values()
            if mount.target.startswith(f"{other.target.rstrip('/')}/")
        )

    kept = (mounts[seen] for seen in sorted(mounts))
    return tuple(
        one
        for one in kept
        if one.source == one.target or not (has_itself(one.target) or through_link(one))
    )


def seen_at(path: str, real: str) -> str:
    """Say where else a script finds what the caller lends: where they name it, also through a link,
    or from where they are.
    """
    named = normpath(path)
    if path.startswith("/"):
        return f"/{named.lstrip('/')}"
    inside = named != "." and not named.startswith(("~", "../")) and named != ".."
    return f"{SCRATCH}/{named}" if inside else real


def bounds_of(policy: RunSettings, lent: Lent) -> RunLimits:
    """Give the limits of a run."""
    return RunLimits(
        seconds=lent.seconds or policy.seconds,
        memory_bytes=policy.memory_bytes,
        processes=policy.processes,
        output_bytes=policy.output_bytes,
        scratch_bytes=policy.scratch_bytes,
        file_bytes=policy.file_bytes,
        lent_bytes=policy.lent_bytes,
    )


def _grant_network(
    wishes: DeclaredPermissions, lent: Lent, policy: RunSettings, level: Trust
) -> tuple[bool, str]:
    """Tell whether a run has the network; else what to say about that, where it was wished for."""
    if not wishes.network:
        return False, f". {UNDECLARED_NETWORK}" if lent.network else ""
    if policy.network == "none":
        return False, ", which it declares: run.network is 'none', so no script has it"
    if policy.network == "trusted":
        granted = level in LEVELS_SETTINGS_MAY_GRANT
        why = f"run.network is 'trusted' and its trust level is {level}"
    else:
        granted = policy.network == "declared"
        why = "run.network is 'never'"
    if granted or lent.network:
        return True, ""
    return False, f", which this skill declares ({why}). Allow it for one run with --network"


# --- the plan of a run

SCRIPT_FOLDER = "scripts/"
SCRIPT_ENDS = tuple(f".{end}" for end in BY_ENDING)
SCRIPT_HEAD_BYTES = 256
NEEDS_YES = "running it needs a person's yes"
UNREAD = (
    "it cannot be read whole: it has more than metier reads, what is no plain file, or what "
    "you may not read"
)
MAX_SCRIPTS_NAMED = 20
"""How many scripts an answer names."""


class RunPlan(NamedTuple):
    """How a script would be run: a value to look at before anything happens. To do as it says is
    the runner's part.
    """

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
    """The files that it asks for: those that are `there` would be lent to read and not to write,
    and of one that is `copied` the runner makes the copy."""
    network: bool
    writable: list[str]
    allowed: bool
    """Whether nothing forbids it."""
    asks: bool
    """Whether a person has to say yes to this very run first."""
    reasons: list[str]
    digest: Digest | None


class Planned(NamedTuple):
    """A run that may be made: its gates, and what it is granted."""

    plan: RunPlan
    card: Card
    granted: Allowance
    level: Trust
    wishes: DeclaredPermissions
    """What the skill declared when this was decided."""


def plan_script(
    context: Context,
    name: str,
    script: str,
    arguments: Sequence[str] = (),
    lent: Lent = NOTHING_LENT,
) -> Planned:
    """Say how a script of a skill would be run, whether it may be, and with what. Nothing is run,
    and a store that fails is a reason.
    """
    card = context.catalogue.resolve(name)
    ready = needs.prepare(context, card.path)
    path, why = _script(card, script)
    inside = held_inside(context, card, path) if path else ""
    reasons = [text for text in (why, inside) if text]
    interpreter = (
        interpreter_of(
            path, disk.read_head(path, SCRIPT_HEAD_BYTES).data, context.settings.run.interpreters
        )
        if path
        else ""
    )
    if path and not interpreter:
        reasons.append(
            f"no interpreter is known for {script or path}, by its first line or the end of its name"
        )
    standing = full_decision_of(context, assess_skill(context, card))
    action = standing.phases["run"]
    level = standing.level
    if action == "block":
        reasons += [f"it is {standing.state}", *standing.reasons]
    elif card.state not in {"visible", "ask"} and card.held not in {"model", "offer"}:
        reasons += [f"it is {card.state}", *card.reasons]
    lacking = readiness_of(ready.missing, (), context.platform, dict(ready.refused))[1]
    environment, trouble = _variables(context, ready)
    reasons += filter(None, (lacking, trouble, UNREAD * (ready.digest is None)))
    wishes = declared_permissions(card)
    granted = grant_run(context, wishes, lent, level)
    against = [f"it cannot be lent {text}" for text in granted.unmet]
    if (
        standing.digest is None and UNREAD not in reasons
    ):  # what is no file is in no digest and no copy
        against.append(UNREAD)
    allowed = not reasons and not against
    asks = action == "ask" or card.state == "ask"
    if ready.reason and ready.reason not in reasons:
        reasons.append(ready.reason)  # its own words about systems forbid nothing
    plan = RunPlan(
        name=card.name,
        script=script or path.rpartition("/")[2],
        path=path,
        interpreter=interpreter,
        arguments=list(arguments),
        environment=environment,
        refused=[name for name, _why in ready.refused],
        files=ready.files,
        network=granted.network,
        writable=[mount.target for mount in granted.mounts if mount.writable],
        allowed=allowed,
        asks=asks,
        reasons=[*against, *reasons, *([NEEDS_YES] if asks else ())],
        digest=standing.digest,
    )
    return Planned(plan, card, granted, level, wishes)


def _variables(context: Context, ready: Prepared) -> tuple[list[str], str]:
    """Name the variables that a run would be given; none, and what is wrong, where a store fails."""
    try:
        return list(needs.vault(context).granted(ask.name for ask in ready.asks)), ""
    except MetierError as error:
        return [], error.message


def _script(card: Card, script: str) -> tuple[str, str]:
    """Give the path of a script inside its skill; nothing, and the reason, when there is no such
    file.
    """
    if card.kind != "skill-md":
        if script in {"", card.path.rpartition("/")[2]} and card.kind == "code":
            return card.path, ""
        return "", f"'{card.name}' is a single file and has no script '{script}'"
    try:
        target = f"{card.path}/{skill_paths.safe_relative(script)}"
    except MetierError as error:
        return "", error.message
    if disk.kind_of(target) == "file":
        real = disk.real(target)
        if real.startswith(disk.real(card.path) + "/"):
            return real, ""
    return "", f"'{card.name}' has no script '{script}'"


def grant_run(context: Context, wishes: DeclaredPermissions, lent: Lent, level: Trust) -> Allowance:
    """Decide what a run is granted, by the settings and the disk of this machine."""
    return grant(
        wishes, lent, context.settings.run, level, place_for(context), place_for(context, lent=True)
    )


def declared_permissions(card: Card) -> DeclaredPermissions:
    """Read what a skill declares that it needs: in its frontmatter, or in the code itself."""
    if card.kind != "code":
        return permissions_of(skill_files.fields_of(card))
    facts = read_code(disk.read_head(card.path, MAX_BYTES + 1).data, skill_files.folder_name(card))
    return read_permissions(facts.permissions if facts else ())


def place_for(context: Context, *, lent: bool = False) -> PathFinder:
    """Give what finds the paths that a run may have: never metier's own files, nor a folder that
    holds them or the home.

    What a person has `lent` must lie where they said. What a skill declares is held against the
    configuration where it really lies.
    """
    kept = [disk.real(path) for path in (context.data, context.config, context.home) if path]
    home = disk.real(context.home) if context.home else None

    def place(path: str) -> tuple[str, str]:
        if "\0" in path or not path:
            return "", "it is no path"
        named = disk.absolute(path, disk.real(context.cwd), home)
        if context.home and home and named.startswith(f"{context.home}/"):
            named = home + named[len(context.home) :]
        real = disk.real(named)
        if disk.kind_of(real) not in {"file", "folder"}:
            return "", "it is not there"
        if any(is_inside(one, real) for one in kept):
            return "", "it holds metier's own files or the whole home folder"
        if context.data and is_inside(real, disk.real(context.data)):
            return "", "it is one of metier's own files"
        if lent and _strays(named):
            why = f"a link on the way leads elsewhere, to {real}: lend that, if it is what you mean"
            return "", why
        return real, ""

    return place


def _strays(path: str) -> bool:
    """Tell whether a link on the way to a path leads out of the folder in which it lies.

    Whatever was lent a folder to change may have left one there, and the next run would be lent
    what its owner never named.
    """
    at = ""
    for part in path.strip("/").split("/"):
        folder = at
        at = f"{at}/{part}"
        if disk.target_of(at) is not None:
            at = disk.real(at)
            if not f"{at}/".startswith(f"{folder}/"):
                return True
    return False


def scripts_of(context: Context, card: Card) -> list[str]:
    """Name the scripts of a skill: what lies in `scripts/`, and elsewhere what ends like one."""
    if card.kind != "skill-md":
        return []
    extra = context.settings.run.interpreters
    ends = [
        piece.path
        for piece in disk.tree(card.path)
        if not piece.link
        and (piece.path.endswith(SCRIPT_ENDS) or _names_reader(card, piece.path, extra))
    ]
    return [path for path in ends if path.startswith(SCRIPT_FOLDER)] or ends


def _names_reader(card: Card, path: str, extra: Sequence[str]) -> bool:
    """Tell whether the first line of a file names a program that may read it."""
    head = disk.read_head(f"{card.path}/{path}", SCRIPT_HEAD_BYTES).data
    return head.startswith(b"#!") and bool(interpreter_of(path, head, extra))


def name_scripts(scripts: Sequence[str]) -> str:
    """Name scripts, of many the first, so that nothing in a name can be taken for words of ours."""
    return ", ".join(map(quoted, scripts[:MAX_SCRIPTS_NAMED])) + (
        ", …" if len(scripts) > MAX_SCRIPTS_NAMED else ""
    )


def quoted(word: str) -> str:
    """Give a word as a shell takes it, on one line."""
    return shlex.quote(word) if word.isprintable() else repr(word)


def next_step(context: Context, planned: Planned) -> str:
    """Say what to do about a run that may not be."""
    plan = planned.plan
    name = planned.card.name
    if planned.granted.unmet:
        return "lend the file or folder itself, where it lies"
    if is_ruled(plan.reasons):
        return f"see which line decides: metier policy explain {name}"
    if not plan.path:
        found = scripts_of(context, planned.card)
        return (
            f"its scripts: {name_scripts(found)}"
            if found
            else f"it has no script to run; read it: metier show {name}"
        )
    if not plan.interpreter:
        return (
            "who trusts it adds the program that its first line names to run.interpreters in "
            "their own configuration"
        )
    if plan.digest is None:
        return f"see: metier scan {quoted(planned.card.path)}"
    if any(needs.prepare(context, planned.card.path).missing.values()):
        return f"give it what it needs: metier setup {name}"
    return f"see: metier why {name}"
