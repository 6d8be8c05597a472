"""The packages that a Python script declares (PEP 723): whether they may be installed, and the environment that has them.

They are installed in the sandbox as well, by a step of its own, which has the network only where they come from an index and which
sees nothing of the user's. The script itself gets the finished environment to read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import recording
from metier.discover import disk
from metier.errors import MetierError, RefusedError, SourceError
from metier.execute import environments as how
from metier.execute.environments import Environment, disk as shelf
from metier.execute.interpreters import env as interpreters, is_python
from metier.execute.output import Cleaner
from metier.runs import Mount
from metier.standard.inline import read_block, unfit

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.app import Library
    from metier.execute.environments.disk import Building, Kept
    from metier.execute.interpreters import Interpreter
    from metier.runs import Cage

__all__ = ["Environment", "Wanted", "in_words", "planned", "ready", "sweep"]

FOLDER = "run/envs"
"""Where environments lie, below METIER_HOME."""
UNUSED_DAYS = 30
"""After so many days without use an environment may go."""
TOLD = 2000
"""Characters of an installer's last words that an error repeats."""


class Wanted(NamedTuple):
    """What a script wants installed, and what becomes of that."""

    dependencies: tuple[str, ...]
    state: str
    """`cached`: there already; `install`: it will be; `ask`: after a person's yes; `refused`."""
    source: str = ""
    """Where the packages come from, without any password."""
    reason: str = ""
    """Why it is refused."""
    key: str = ""


def planned(library: Library, text: str, python: str = "python3") -> Wanted | None:
    """Say what a script wants installed; nothing when it declares no packages. Nothing is installed.

    `python` is what its first line names. Packages are installed for metier's own Python alone, so for another they are refused.
    """
    declared = read_block(text)
    if declared is None:
        return None
    version = interpreters.python_version()
    own = is_python(python, version)
    reason = declared.problem or (unfit(declared.requires_python, version) if own else "")
    if reason:
        return Wanted(declared.dependencies, "refused", reason=reason)
    if not declared.dependencies:
        return None
    if not own:
        reason = f"they can be for Python {version[0]}.{version[1]} only, and it is run by {python}"
        return Wanted(declared.dependencies, "refused", reason=reason)
    run = library.settings.run
    origin = _origin(library)
    reason = origin.problem or ("" if library.data else "there is no place for them: set METIER_HOME or HOME")
    if reason:
        return Wanted(declared.dependencies, "refused", origin.shown, reason)
    key = how.key_of(interpreters.python_build(), _python(library).command[0], origin, declared.dependencies)
    wanted = Wanted(declared.dependencies, "cached", origin.shown, key=key)
    if shelf.is_ready(_root(library), key):
        return wanted
    if run.dependencies == "never":
        return wanted._replace(state="refused", reason="the setting run.dependencies is 'never'")
    return wanted._replace(state="install" if run.dependencies == "allow" else "ask")


def in_words(wanted: Wanted | None) -> list[str]:
    """Say the same in lines for people."""
    if wanted is None:
        return []
    says = {"cached": "they are installed already", "install": f"they would be installed from {wanted.source}",
            "ask": f"after a yes they would be installed from {wanted.source}", "refused": f"refused: {wanted.reason}"}  # fmt: skip
    return [*wanted.dependencies, says[wanted.state]]


def ready(
    library: Library, text: str, python: str = "python3", *, consent: bool, said: Callable[[str], None] = lambda _line: None
) -> Environment | None:  # fmt: skip
    """Give the environment that a script declares, built now where it is not there; nothing when it declares no packages.

    `consent` is a person's yes to installing them, where the setting `run.dependencies` asks for one; what is there needs none.
    """
    wanted = planned(library, text, python)
    if wanted is None:
        return None
    if wanted.state == "refused":
        raise _refused(library, wanted, RefusedError(
            f"the packages that it declares are not installed: {wanted.reason}", code="dependencies",
            hint="see the metadata at the top of the script, and the setting run.dependencies"))  # fmt: skip
    if wanted.state == "ask" and not consent:
        raise _refused(library, wanted, RefusedError(
            f"it needs packages that are not installed: {', '.join(wanted.dependencies)}", code="dependencies-ask",
            hint=f"say yes to installing them from {wanted.source}, or set run.dependencies to 'allow'"))  # fmt: skip
    if wanted.state != "cached":
        _build(library, wanted, said)
    shelf.use(_root(library), wanted.key)
    return environment_of(library, wanted)


def environment_of(library: Library, wanted: Wanted) -> Environment:
    """Say where an environment lies, or will once it is built."""
    place = shelf.place(_root(library), wanted.key)
    return Environment(f"{place}/bin/python", (Mount(place, place),), wanted.key, wanted.dependencies)


def sweep(library: Library, *, days: float = UNUSED_DAYS, dry_run: bool = False) -> list[Kept]:
    """Remove the environments that no script has used for so many days; give them, or those that would go."""
    if not library.data:
        return []
    root = _root(library)
    return [one for one in shelf.kept(root) if one.days >= days and (dry_run or shelf.drop(root, one.key))]


def _root(library: Library) -> str:
    return f"{disk.real(library.data or '/')}/{FOLDER}"


def _python(library: Library) -> Interpreter:
    return interpreters.find("python3", (), "", library.home or "", library.data or "")


def _origin(library: Library) -> how.Origin:
    origin = how.origin_of(library.settings.run.packages_from, library.home)
    if not origin.folder:
        return origin
    real = disk.real(origin.folder)
    if disk.kind_of(real) != "folder":
        return origin._replace(problem=f"run.packages_from names {origin.folder}, where there is no folder")
    return origin._replace(folder=real, shown=real)


def _refused(library: Library, wanted: Wanted, error: RefusedError) -> RefusedError:
    _note(library, "refused", wanted, reason=wanted.reason or "nobody said yes", code=error.code)
    return error


def _note(library: Library, outcome: str, wanted: Wanted, *, reason: str = "", code: str = "", seconds: float = 0.0) -> None:
    recording.record(library, "environment", outcome, dependencies=list(wanted.dependencies), packages_from=wanted.source,
                     key=wanted.key, reason=reason, code=code, seconds=round(seconds, 3))  # fmt: skip


def _build(library: Library, wanted: Wanted, said: Callable[[str], None]) -> None:
    """Build an environment, unless another process is quicker, and note down what came of it."""
    root = _root(library)
    try:
        with shelf.building(root, library.home, wanted.key) as desk:
            if desk is None:
                return
            said(f"installing {', '.join(wanted.dependencies)} from {wanted.source}")
            seconds = _install(library, wanted, desk)
            _check(wanted, desk.strangers())
            build = interpreters.python_build()
            desk.finish({"dependencies": wanted.dependencies, "packages_from": wanted.source, "python": build})
    except BaseException as error:
        reason = error.message if isinstance(error, MetierError) else type(error).__name__
        _note(library, "failed", wanted, reason=reason)
        raise
    _note(library, "built", wanted, seconds=seconds)


def _check(wanted: Wanted, strangers: list[str]) -> None:
    """Refuse what was installed from elsewhere than the user said."""
    if strangers:
        raise SourceError(f"not every package came from {wanted.source}: {', '.join(strangers[:5])} came by an address of its own",
                          hint="ask for a version of what needs it that names no address", code="dependencies-failed")  # fmt: skip


def _install(library: Library, wanted: Wanted, desk: Building) -> float:
    """Make an empty environment, then put the packages into it: two runs, since only the second may need the network."""
    python, final = _python(library), shelf.place(desk.root, desk.key)
    install = how.install_cage(python, desk.env, final, _origin(library), wanted.dependencies, library.env)
    seconds = _step(library, how.bare_cage(python, desk.env, final), "no environment can be made for its packages",
                    "it takes Python's own venv")  # fmt: skip
    return seconds + _step(library, install, "the packages that it declares cannot be installed",
                           f"only ready-made packages (wheels) are installed, from {wanted.source}, and by Python's own ensurepip, "
                           "which some systems have in a package python3-venv")  # fmt: skip


def _step(library: Library, cage: Cage, failed: str, hint: str) -> float:
    heard: list[str] = []
    streams = {stream: Cleaner(how.passwords(cage)) for stream in ("out", "err")}
    ended = library.box().run(cage, lambda stream, data: heard.append(streams[stream].feed(data)))
    heard += [cleaner.finish() for cleaner in streams.values()]
    if ended.code == 0 and not ended.stopped:
        return ended.seconds
    words = "".join(heard).strip()
    last = words.rpartition("\n")[2] or f"exit code {ended.code}"
    error = SourceError(f"{failed}: {f'stopped, too much {ended.stopped}' if ended.stopped else last}", hint=hint,
                        code="dependencies-failed")  # fmt: skip
    error.details["output"] = words[-TOLD:]
    raise error
