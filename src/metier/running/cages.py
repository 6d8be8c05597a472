"""From a plan to all that a sandbox is told: the command, the mounts, the variables and the secrets. The only place with values."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from metier import preparing
from metier.copies import disk as copies
from metier.discover import disk
from metier.errors import IntegrityError, RefusedError, UsageError
from metier.execute.interpreters import env as interpreters, inside, is_python, is_some_python, options_of
from metier.execute.limits.proc import ONE_ARGUMENT, all_arguments
from metier.running import environments, telling
from metier.running.planning import declared
from metier.runs import HOME, SCRATCH, SECRETS, SKILL, Cage, Given, Mount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.app import Library
    from metier.model import Card
    from metier.preparing import CredentialFile
    from metier.running.planning import Planned

CREDENTIAL_BYTES = 1024 * 1024
"""The largest file that a run is lent a copy of."""
SCRIPT_BYTES = 4 * 1024 * 1024
_SPARE = 65_536
"""What bubblewrap says besides, and what the kernel puts there itself."""
_ELSEWHERE = "put what is long into a file and lend that, or give it on standard input"
PATH = "/usr/local/bin:/usr/bin:/bin"
VENDORS = ("", "CLAUDE_", "CODEX_", "HERMES_", "METIER_")
"""Whose variable for a skill's folder a script may look for."""


class Lending(NamedTuple):
    """A cage with the values that stand in it, which must never be shown."""

    cage: Cage
    values: Mapping[str, str]
    """Those of variables, by the name to show in their place."""
    words: Mapping[str, str] = MappingProxyType({})
    """What lent files hold that no output may show, each with the file to name in its place (`telling`)."""


def surroundings(
    name: str, folder: str = SKILL, scratch: str = SCRATCH, home: str = HOME, path: str = PATH, cwd: str = ""
) -> dict[str, str]:  # fmt: skip
    """Give the variables that every script has, before its own. METIER_CWD is empty where the caller's folder is not lent."""
    fixed = {"PATH": path, "HOME": home, "TMPDIR": "/tmp", "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",  # noqa: S108 - its own
             "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1", "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1",
             "METIER_SKILL": name, "METIER_SCRATCH": scratch, "METIER_CWD": cwd}  # fmt: skip
    return fixed | {f"{vendor}SKILL_DIR": folder for vendor in VENDORS}


def lent_here(library: Library, mounts: Sequence[Mount]) -> str:
    """Give the caller's own folder where it is lent, by itself or in another: a script starts elsewhere, and has to be told."""
    here = disk.real(library.cwd)
    return here if any(inside(here, mount.target) for mount in mounts) else ""


def left_behind(cage: Cage) -> str:
    """Say where the caller's folder is, where a script may change it and starts elsewhere; nothing where that is not so."""
    here = dict(cage.environment).get("METIER_CWD", "")
    if not here or not any(mount.writable and inside(here, mount.target) for mount in cage.mounts):
        return ""
    return f"it starts in {cage.folder}, which is gone afterwards; your folder is at {here}, as METIER_CWD tells it"


def checked(arguments: Sequence[str]) -> None:
    """Refuse an argument that no program can be given, before anything is made for it."""
    for number, argument in enumerate(arguments, 1):
        try:
            size = len(argument.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError as error:
            raise UsageError(f"argument {number} holds half a character, which no argument can", hint=_ELSEWHERE) from error
        if "\0" in argument:
            raise UsageError(f"argument {number} holds a NUL, which no argument can", hint=_ELSEWHERE)
        if size > ONE_ARGUMENT:
            raise UsageError(f"argument {number} has {size:,} bytes, and one has at most {ONE_ARGUMENT:,}", hint=_ELSEWHERE)


def together(cage: Cage) -> Cage:
    """Refuse arguments that are too long together: the kernel has one room for them and for the variables."""
    words = [*cage.command, *(f"{name}={value}" for name, value in cage.environment),
             *(path for mount in cage.mounts for path in mount[:2])]  # fmt: skip
    size, most = sum(len(word.encode("utf-8", "replace")) + 9 for word in words), all_arguments() - _SPARE
    if size > most:
        raise UsageError(f"its arguments and variables have {size:,} bytes, and together they have at most {most:,} here",
                         hint=_ELSEWHERE)  # fmt: skip
    return cage


def caged(library: Library, planned: Planned, digest: str, *, consent: bool, bare: bool = False) -> Lending:
    """Lay everything out for one run; `bare` names the host's own paths, for a run without a sandbox."""
    if not library.data:
        raise RefusedError("there is no place to copy the skill to first", hint="set METIER_HOME or HOME", code="no-home")
    plan, settings = planned.plan, library.settings.run
    copy = copies.ready(library.data, library.home, planned.card.path, digest, library.ports.token().hex())
    folder = copy if bare else SKILL
    script = f"{folder}/{_inside(planned)}"
    head = disk.read_head(f"{copy}/{_inside(planned)}", SCRIPT_BYTES).data
    twin = _same(library, planned, copy, head)
    path, home = library.env.get("PATH", ""), library.home or ""
    found = interpreters.find(plan.interpreter, settings.interpreters, path, home, library.data)
    command, mounts = (*found.command, *options_of(head, plan.interpreter)), found.mounts
    if is_some_python(plan.interpreter):
        own = environments.ready(library, head.decode("utf-8", "replace"), plan.interpreter, consent=consent)
        if own is not None:
            command, mounts = (own.python, *command[1:]), (*mounts, *own.mounts)
    values, asked = preparing.lent_to(library, twin)
    variables, files = secrets(values, as_files=settings.secrets == "file" and not bare)
    credentials = _credentials(library, asked)
    base = surroundings(planned.card.name, folder, cwd=lent_here(library, planned.granted.mounts))
    if bare:  # nothing is hidden there, so it is told where things are
        base |= {"PATH": path or PATH, "HOME": home or "/", "METIER_SCRATCH": ".", "METIER_CWD": disk.real(library.cwd)}
    cage = Cage(
        (*command, script, *plan.arguments), (Mount(copy, SKILL), *mounts, *planned.granted.mounts),
        (*files, *credentials), tuple({**base, **variables}.items()), SCRATCH, planned.granted.network,
        planned.granted.bounds, sockets=may_connect(plan.interpreter, found.mounts, planned.granted.mounts),
    )  # fmt: skip
    return Lending(together(cage), values, _telling(library, credentials))


def may_connect(interpreter: str, needed: Sequence[Mount], lent: Sequence[Mount]) -> bool:
    """Tell whether a run may use sockets by their place: not where it sees a folder in which one of the user's may lie.

    In the installation of metier's own Python lies none, and `multiprocessing` needs them.
    """
    return not lent and (not needed or is_python(interpreter, interpreters.python_version()))


def secrets(values: Mapping[str, str], *, as_files: bool) -> tuple[dict[str, str], tuple[Given, ...]]:
    """Give the values as variables, or as files whose names stand in variables of their own."""
    if not as_files:
        return dict(values), ()
    try:
        files = tuple(Given(f"{SECRETS}/{name}", value.encode("utf-8", "surrogateescape")) for name, value in values.items())
    except UnicodeEncodeError as error:
        raise RefusedError("a value that it needs holds half a character, which no file can", code="sandbox-variable",
                           hint="set it anew: metier setup") from error  # fmt: skip
    return {f"{name}_FILE": f"{SECRETS}/{name}" for name in values}, files


def _inside(planned: Planned) -> str:
    """Give the script's path below its skill."""
    return planned.plan.path.removeprefix(disk.real(planned.card.path) + "/")


def _same(library: Library, planned: Planned, copy: str, head: bytes) -> Card:
    """Give the skill as it was copied: what it is lent follows from the bytes that run. Refuse where the plan was of others."""
    twin, plan = planned.card._replace(path=copy), planned.plan
    interpreter = preparing.interpreter_of(plan.path, head[: preparing.SCRIPT_HEAD], library.settings.run.interpreters)
    if declared(twin) != planned.wishes or interpreter != plan.interpreter:
        raise IntegrityError(f"{planned.card.path} changed while its run was planned, so it was not run", code="changed",
                             hint="say it again")  # fmt: skip
    return twin


def _telling(library: Library, files: Sequence[Given]) -> dict[str, str]:
    """Give what lent files hold that no output may show; say so where they hold more than is looked for."""
    found: dict[str, str] = {}
    for file in files:
        for value in telling.telling(file.data):
            found.setdefault(value, file.target)
    kept = telling.bounded(list(found))
    if len(kept) < len(found):
        warning = f"of the {len(found):,} values in the files that it is lent, {len(kept):,} are kept out of its output"
        library.warnings += [warning] if warning not in library.warnings else []
    return {value: found[value] for value in kept}


def _credentials(library: Library, asked: Sequence[CredentialFile]) -> tuple[Given, ...]:
    """Read the files that a skill asks for: it gets their bytes of now, and no way to the files themselves (HE-5, HE-21)."""
    found = []
    for file in asked:
        real = library.machine.file_of(file.path) if file.there else None
        if real is None:
            continue
        head = disk.read_head(real, CREDENTIAL_BYTES + 1)
        if head.fault or len(head.data) > CREDENTIAL_BYTES:
            raise RefusedError(f"{file.path} cannot be lent: {head.fault or 'it is too large'}", code="credential-file",
                               hint="see to it that it is a file of at most 1 MiB")  # fmt: skip
        found.append(Given(f"{HOME}/{file.path.removeprefix('~/')}", head.data))
    return tuple(found)
