"""Works out all that the sandbox is told for one run of a script or a code skill: the command, the
mounts, the variables and the secrets.

This is the only place with values.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.io import disk
from metier.errors import IntegrityError, RefusedError, UsageError
from metier.run import environments, needs
from metier.run.interpreters import interpreter_of, is_inside, is_python, is_some_python, options_of
from metier.run.io import code_skill, copies, find_interpreter
from metier.run.io.limits import MAX_ARGUMENT_BYTES, max_all_arguments_bytes
from metier.run.model import (
    COMMON_VARIABLES,
    HOME,
    PATH,
    SCRATCH,
    SECRETS,
    SKILL,
    Cage,
    GivenFile,
    Mount,
)
from metier.run.plan import (
    SCRIPT_HEAD_BYTES,
    declared_permissions,
    grant_run,
    read_permissions,
)
from metier.secrets import detect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from metier.context import Context
    from metier.model import Card
    from metier.run.admit import Admitted
    from metier.run.interpreters import Interpreter
    from metier.run.model import CodeCall, Lent
    from metier.run.needs import CredentialFile
    from metier.run.plan import Planned
    from metier.trust.decide import Usable


CREDENTIAL_BYTES = 1024 * 1024
"""The largest file that a run is lent a copy of."""
SCRIPT_BYTES = 4 * 1024 * 1024
_SPARE_BYTES = 65_536
"""What bubblewrap says besides, and what the kernel puts there itself."""
_ELSEWHERE = "put what is long into a file and lend that, or give it on standard input"
VENDORS = ("", "CLAUDE_", "CODEX_", "HERMES_", "METIER_")
"""Whose variable for a skill's folder a script may look for."""


class FilledCage(NamedTuple):
    """A cage with the values that stand in it, which must never be shown."""

    cage: Cage
    values: Mapping[str, str]
    """Those of variables, by the name to show in their place."""
    words: Mapping[str, str] = MappingProxyType({})
    """What lent files hold that no output may show, each with the file to name in its place
    (`telling`)."""


def base_variables(name: str, folder: str = SKILL, cwd: str = "") -> dict[str, str]:
    """Give the variables that every script has, before its own. METIER_CWD is empty where the
    caller's folder is not lent.
    """
    return {
        **COMMON_VARIABLES,
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "METIER_SKILL": name,
        "METIER_SCRATCH": SCRATCH,
        "METIER_CWD": cwd,
        **{f"{vendor}SKILL_DIR": folder for vendor in VENDORS},
    }


def lent_here(context: Context, mounts: Sequence[Mount]) -> str:
    """Give the caller's own folder where it is lent, by itself or in another: a script starts
    elsewhere, and has to be told.
    """
    here = disk.real(context.cwd)
    return here if any(is_inside(here, mount.target) for mount in mounts) else ""


def left_behind(cage: Cage) -> str:
    """Say where the caller's folder is, where a script may change it and starts elsewhere; nothing
    where that is not so.
    """
    here = dict(cage.environment).get("METIER_CWD", "")
    if not here or not any(
        mount.writable and is_inside(here, mount.target) for mount in cage.mounts
    ):
        return ""
    return (
        f"it starts in {cage.folder}, which is gone afterwards; your folder is at {here}, as "
        f"METIER_CWD tells it"
    )


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuse an argument that no program can be given, before anything is made for it."""
    for number, argument in enumerate(arguments, 1):
        try:
            size = len(argument.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError as error:
            raise UsageError(
                f"argument {number} holds half a character, which no argument can", hint=_ELSEWHERE
            ) from error
        if "\0" in argument:
            raise UsageError(
                f"argument {number} holds a NUL, which no argument can", hint=_ELSEWHERE
            )
        if size > MAX_ARGUMENT_BYTES:
            raise UsageError(
                f"argument {number} has {size:,} bytes, and one has at most {MAX_ARGUMENT_BYTES:,}",
                hint=_ELSEWHERE,
            )


def _check_total_bytes(cage: Cage) -> None:
    """Refuse arguments that are too long together: the kernel has one room for them and for the
    variables.
    """
    words = [
        *cage.command,
        *(f"{name}={value}" for name, value in cage.environment),
        *(path for mount in cage.mounts for path in (mount.source, mount.target)),
    ]
    size = sum(len(word.encode("utf-8", "replace")) + 9 for word in words)
    most = max_all_arguments_bytes() - _SPARE_BYTES
    if size > most:
        raise UsageError(
            f"its arguments and variables have {size:,} bytes, and together they have at most "
            f"{most:,} here",
            hint=_ELSEWHERE,
        )


def cage_script(
    context: Context, permitted: Usable[Planned], *, consent: bool, bare: bool = False
) -> FilledCage:
    """Lay everything out for one run; `bare` names the host's own paths, for a run without a
    sandbox.
    """
    if not context.data:
        raise RefusedError(
            "there is no place to copy the skill to first",
            hint="set METIER_HOME or HOME",
            code="no-home",
        )
    planned = permitted.candidate
    digest = permitted.decision.digest
    assert digest is not None  # what may be run was read whole
    interpreter = planned.plan.interpreter
    copy = copies.ensure(
        context.data, context.home, planned.card.path, digest, context.ports.token().hex()
    )
    head = disk.read_head(f"{copy}/{_inside(planned)}", SCRIPT_BYTES).data
    twin = _same(context, planned, copy, head)
    found = find_reader(context, interpreter, head)
    if is_some_python(interpreter):
        found = environments.with_packages(
            found,
            environments.ensure_environment(
                context, head.decode("utf-8", "replace"), interpreter, consent=consent
            ),
        )
    values, asked = needs.lent_to(context, twin)
    variables, files = place_secrets(values, as_files=secrets_as_files(context, bare=bare))
    credentials = []
    for given, fault in read_credentials(context, asked):
        if fault:
            raise RefusedError(
                fault,
                code="credential-file",
                hint="see to it that it is a file of at most 1 MiB",
            )
        credentials.append(given)
    cage = lay_out(context, planned, copy, found, variables, (*files, *credentials), bare=bare)
    return FilledCage(cage, values, _secret_words(context, credentials))


def find_reader(context: Context, name: str, head: bytes = b"") -> Interpreter:
    """Give the program that reads a script, with the options that the script's first line has for
    it.
    """
    found = find_interpreter.find(
        name,
        context.settings.run.interpreters,
        context.env.get("PATH", ""),
        context.home or "",
        context.data or "",
    )
    return found._replace(command=(*found.command, *options_of(head, name)))


def lay_out(
    context: Context,
    planned: Planned,
    source: str,
    reader: Interpreter,
    variables: Mapping[str, str],
    files: Sequence[GivenFile],
    *,
    bare: bool,
) -> Cage:
    """Give the cage of a script whose skill lies at `source`."""
    plan = planned.plan
    granted = planned.granted
    folder = source if bare else SKILL
    base = base_variables(planned.card.name, folder, cwd=lent_here(context, granted.mounts))
    if bare:  # nothing is hidden there, so it is told where things are
        base |= {
            "PATH": context.env.get("PATH") or PATH,
            "HOME": context.home or "/",
            "METIER_SCRATCH": ".",
            "METIER_CWD": disk.real(context.cwd),
        }
    cage = Cage(
        (*reader.command, f"{folder}/{_inside(planned) or plan.script}", *plan.arguments),
        (Mount(source, SKILL), *reader.mounts, *granted.mounts),
        tuple(files),
        tuple({**base, **variables}.items()),
        network=granted.network,
        bounds=granted.bounds,
        # By their place it may use sockets only where it sees no folder in which one of the user's
        # may lie. In the installation of metier's own Python lies none, and `multiprocessing` needs
        # them.
        sockets=not granted.mounts
        and (not reader.mounts or is_python(plan.interpreter, find_interpreter.python_version())),
    )
    _check_total_bytes(cage)
    return cage


def secrets_as_files(context: Context, *, bare: bool = False) -> bool:
    """Tell whether the user wants secrets lent as files, which only a sandbox can."""
    return context.settings.run.secrets == "file" and not bare


def place_secrets(
    values: Mapping[str, str], *, as_files: bool
) -> tuple[dict[str, str], tuple[GivenFile, ...]]:
    """Give the values as variables, or as files whose names stand in variables of their own."""
    if not as_files:
        return dict(values), ()
    try:
        files = tuple(
            GivenFile(f"{SECRETS}/{name}", value.encode("utf-8", "surrogateescape"))
            for name, value in values.items()
        )
    except UnicodeEncodeError as error:
        raise RefusedError(
            "a value that it needs holds half a character, which no file can",
            code="sandbox-variable",
            hint="set it anew: metier setup",
        ) from error
    return {f"{name}_FILE": f"{SECRETS}/{name}" for name in values}, files


def _inside(planned: Planned) -> str:
    """Give the script's path below its skill."""
    return planned.plan.path.removeprefix(disk.real(planned.card.path) + "/")


def _same(context: Context, planned: Planned, copy: str, head: bytes) -> Card:
    """Give the skill as it was copied: what it is lent follows from the bytes that run. Refuse
    where the plan was of others.
    """
    twin = planned.card._replace(path=copy)
    interpreter = interpreter_of(
        planned.plan.path, head[:SCRIPT_HEAD_BYTES], context.settings.run.interpreters
    )
    if declared_permissions(twin) != planned.wishes or interpreter != planned.plan.interpreter:
        raise IntegrityError(
            f"{planned.card.path} changed while its run was planned, so it was not run",
            code="changed",
            hint="say it again",
        )
    return twin


def _secret_words(context: Context, files: Sequence[GivenFile]) -> dict[str, str]:
    """Give what lent files hold that no output may show; say so where they hold more than is looked
    for.
    """
    found: dict[str, str] = {}
    for file in files:
        for value in detect.find_secrets(file.data):
            found.setdefault(value, file.target)
    kept = detect.first_secrets(list(found))
    if len(kept) < len(found):
        warning = (
            f"of the {len(found):,} values in the files that it is lent, {len(kept):,} are "
            f"kept out of its output"
        )
        context.warnings += [warning] if warning not in context.warnings else []
    return {value: found[value] for value in kept}


def read_credentials(
    context: Context, asked: Sequence[CredentialFile]
) -> Iterator[tuple[GivenFile, str]]:
    """Read the files that a skill asks for, each with the reason where it cannot be lent: it gets
    their bytes of now, and no way to the files themselves (HE-5, HE-21).
    """
    for file in asked:
        real = context.machine.file_of(file.path) if file.there else None
        if real is not None:
            head = disk.read_head(real, CREDENTIAL_BYTES + 1)
            fault = head.fault or "it is too large" * (len(head.data) > CREDENTIAL_BYTES)
            given = GivenFile(f"{HOME}/{file.path.removeprefix('~/')}", head.data)
            yield given, fault and f"{file.path} cannot be lent: {fault}"


# --- code skills

PROGRAM_TARGET = "/run/metier/inside.py"
CALL_TARGET = "/run/metier/call.json"
"""Where the program that calls the skill lies inside, and what it is asked: a task stands in no
list of arguments."""


def cage_code(
    context: Context, admitted: Admitted, asked: CodeCall, lent: Lent, values: Mapping[str, str]
) -> FilledCage:
    """Lay out everything for one call; the folder of the skill is not in it, only the one file that
    was gated.
    """
    gated = admitted.gated
    granted = grant_run(context, read_permissions(gated.facts.permissions), lent, admitted.level)
    if granted.unmet:
        raise RefusedError(
            f"it cannot be lent {'; '.join(granted.unmet)}",
            hint="lend the file or folder itself, where it lies",
        )
    found = find_reader(context, "python3")
    source = f"{SKILL}/{gated.file}"
    words = {"task": asked.task, "context": asked.context}
    variables, files = place_secrets(values, as_files=secrets_as_files(context))
    base = base_variables(admitted.card.name, cwd=lent_here(context, granted.mounts))
    cage = Cage(
        (*found.command, "-I", "-B", PROGRAM_TARGET, source, CALL_TARGET),
        (*found.mounts, *granted.mounts),
        (
            GivenFile(source, gated.data),
            GivenFile(PROGRAM_TARGET, code_skill.inside_program()),
            GivenFile(CALL_TARGET, json.dumps(words).encode()),
            *files,
        ),
        tuple({**base, **variables}.items()),
        network=granted.network,
        bounds=granted.bounds,
        sockets=not granted.mounts,
        reports=True,
    )
    return FilledCage(cage, values)
