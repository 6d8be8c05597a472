"""Plans, builds and sweeps the environments with the packages that Python scripts declare (PEP
723).

They are installed in the sandbox as well, by a step of its own, which has the network only where
the packages come from an index and which sees nothing of the user's. The script itself gets the
finished environment to read.

An environment knows the path that it was made for, so it is made at that path: the folder in which
it is built is mounted where it will lie once it is finished. Only ready-made packages are
installed. To build one from its source would be to run a stranger's code, and while it has the
network.

Sweeping removes what nobody used of late; it is made anew when needed.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.discover.io import disk
from metier.errors import MetierError, RefusedError, SourceError
from metier.run.interpreters import Interpreter, is_python
from metier.run.io import copies, environment_folder, find_interpreter
from metier.run.model import COMMON_VARIABLES, MIB, Cage, Mount, RunLimits
from metier.run.output import OutputCleaner
from metier.standard.script_block import read_block, unfit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.context import Context
    from metier.model import Texts
    from metier.run.io.environment_folder import EnvironmentBuild, KeptEnvironment


PYPI = "https://pypi.org/simple"
WHEELS = "/wheels"
"""Where a folder of packages is seen by the installer."""
INSTALL_LIMITS = RunLimits(
    seconds=600,
    memory_bytes=2048 * MIB,
    processes=128,
    output_bytes=4 * MIB,
    scratch_bytes=2048 * MIB,
    file_bytes=4096 * MIB,
    lent_bytes=16 * 1024 * MIB,
)
PROXIES = (
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
)
_PIP = """
import glob, os, runpy, sys, sysconfig
import ensurepip
places = os.path.dirname(ensurepip.__file__) + "/_bundled", sysconfig.get_config_var("WHEEL_PKG_DIR"), "/usr/share/python-wheels"
wheels = [wheel for place in places if place for wheel in sorted(glob.glob(glob.escape(place) + "/pip-*.whl"))]
if not wheels:
    sys.exit("ensurepip is here, but not the pip that belongs to it")
sys.path.insert(0, wheels[0])
from pip._vendor.packaging.requirements import Requirement
starts = {"subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn"}
read = Requirement.__init__
def checked(self, text):
    read(self, text)
    if self.url and (self.marker is None or self.marker.evaluate({"extra": ""})):
        raise PermissionError(self.name + " would come from an address that a package names itself: " + self.url)
def watched(event, _arguments):
    if event in starts:
        raise PermissionError("a package would have to be built, or be fetched by another program; only wheels are installed")
Requirement.__init__ = checked
from pip._vendor.packaging import tags
list(tags.sys_tags())  # which asks the system's own loader for its version where that is musl's, once
sys.addaudithook(watched)
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
"""Runs the pip that comes with Python from where it lies: to put it into each environment would
take longer than all the rest.

pip's own word for wheels alone does not hold for what a package names by its address, so no address
is followed and no program is started: pip builds nothing but by another process.
"""
_RECIPE = "2"
"""How environments are built: what was built in another way is not used any more."""
_INSTALL = (
    "install",
    "--only-binary=:all:",
    "--no-input",
    "--disable-pip-version-check",
    "--no-cache-dir",
    "--progress-bar=off",
    "--root-user-action=ignore",
    "--no-warn-script-location",
    "--no-color",
)
_ADDRESS = re.compile(r"https://(?:([^\s/@?#]+)@)?([^\s/@?#]+)(/[^\s?#]*)?")
_LOGIN = re.compile(r"://([^/@\s]+)@")


class Environment(NamedTuple):
    """An environment that is there: what a script that declared it is run with."""

    python: str
    """The interpreter's path, inside a sandbox and outside."""
    mounts: tuple[Mount, ...]
    """What a sandbox must show beside what the interpreter itself needs."""
    key: str
    dependencies: Texts


class PackageSource(NamedTuple):
    """Where packages come from: an index, or a folder of wheels."""

    address: str = ""
    folder: str = ""
    shown: str = ""
    """The same for people and for the log, without the name and password that an address may
    hold."""
    problem: str = ""


def read_package_source(text: str, home: str | None) -> PackageSource:
    """Read the setting `run.packages_from`.

    Nothing means PyPI. What pip itself is configured to do, by files and variables, counts here as
    little as any other part of the user's environment: one setting says where packages come from.
    """
    match = _ADDRESS.fullmatch(text or PYPI)
    if match and text.isascii() and text.isprintable():
        return PackageSource(address=text or PYPI, shown=f"https://{match[2]}{match[3] or ''}")
    path = f"{home}/{text[2:]}" if text.startswith("~/") and home else text
    if path.startswith("/") and "\0" not in path:
        return PackageSource(folder=path, shown=path)
    return PackageSource(
        problem="run.packages_from is neither an address that begins with https:// nor the full "
        "path of a folder"
    )


def key_of(build: str, python: str, origin: PackageSource, dependencies: Sequence[str]) -> str:
    """Name an environment by all that makes it what it is."""
    parts = (_RECIPE, python, build, origin.shown, *sorted(dependencies))
    return sha256(
        "".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
    ).hexdigest()[:32]


def bare_cage(python: Interpreter, staging: str, final: str) -> Cage:
    """Give the cage in which an empty environment is made; it needs no network."""
    command = (python.command[0], "-I", "-m", "venv", "--without-pip", final)
    mounts = (*python.mounts, Mount(staging, final, writable=True))
    return Cage(
        command,
        mounts,
        environment=tuple(COMMON_VARIABLES.items()),
        bounds=INSTALL_LIMITS,
        sockets=False,
    )


def install_cage(
    python: Interpreter,
    staging: str,
    final: str,
    origin: PackageSource,
    dependencies: Sequence[str],
    env: Mapping[str, str],
) -> Cage:
    """Give the cage in which packages are installed; only an index needs the network.

    The address stands in a variable, since it may hold a password and anybody can read arguments.
    """
    mounts = [*python.mounts, Mount(staging, final, writable=True)]
    variables = COMMON_VARIABLES | {"PIP_CONFIG_FILE": "/dev/null"}
    where: list[str] = []
    if origin.folder:
        mounts.append(Mount(origin.folder, WHEELS))
        where = ["--no-index", f"--find-links={WHEELS}"]
    else:
        variables |= {name: env[name] for name in PROXIES if env.get(name)}
        variables["PIP_INDEX_URL"] = origin.address
    command = (f"{final}/bin/python", "-I", "-c", _PIP, *_INSTALL, *where, "--", *dependencies)
    return Cage(
        command,
        tuple(mounts),
        environment=tuple(variables.items()),
        network=not origin.folder,
        bounds=INSTALL_LIMITS,
        sockets=False,
    )


def passwords(cage: Cage) -> dict[str, str]:
    """Give what the addresses in a cage's variables have of names and passwords, so that it is
    shown nowhere.
    """
    found = [login for _name, value in cage.environment for login in _LOGIN.findall(value)]
    parts = [part for login in found for part in (login, login.partition(":")[2]) if part]
    return {f"login{number or ''}": part for number, part in enumerate(parts)}


# --- the environment of a script

FOLDER = "run/envs"
"""Where environments lie, below METIER_HOME."""
UNUSED_DAYS = 30
"""After so many days without use an environment may go."""
MAX_INSTALLER_WORDS_CHARS = 2000
"""Characters of an installer's last words that an error repeats."""


class WantedPackages(NamedTuple):
    """What a script wants installed, and what becomes of that."""

    dependencies: Texts
    state: str
    """`cached`: there already; `install`: it will be; `ask`: after a person's yes; `refused`."""
    source: str = ""
    """Where the packages come from, without any password."""
    reason: str = ""
    """Why it is refused."""
    key: str = ""


def plan_packages(context: Context, text: str, python: str = "python3") -> WantedPackages | None:
    """Say what a script wants installed; nothing when it declares no packages. Nothing is
    installed.

    `python` is what its first line names. Packages are installed for metier's own Python alone, so
    for another they are refused.
    """
    declared = read_block(text)
    if declared is None:
        return None
    version = find_interpreter.python_version()
    own = is_python(python, version)
    reason = declared.problem or (unfit(declared.requires_python, version) if own else "")
    if reason:
        return WantedPackages(declared.dependencies, "refused", reason=reason)
    if not declared.dependencies:
        return None
    if not own:
        reason = f"they can be for Python {version[0]}.{version[1]} only, and it is run by {python}"
        return WantedPackages(declared.dependencies, "refused", reason=reason)
    run = context.settings.run
    origin = _origin(context)
    reason = origin.problem or (
        "" if context.data else "there is no place for them: set METIER_HOME or HOME"
    )
    if reason:
        return WantedPackages(declared.dependencies, "refused", origin.shown, reason)
    key = key_of(
        find_interpreter.python_build(), _python(context).command[0], origin, declared.dependencies
    )
    wanted = WantedPackages(declared.dependencies, "cached", origin.shown, key=key)
    if environment_folder.is_ready(_root(context), key):
        return wanted
    if run.dependencies == "never":
        return wanted._replace(state="refused", reason="the setting run.dependencies is 'never'")
    return wanted._replace(state="install" if run.dependencies == "allow" else "ask")


def describe_packages(wanted: WantedPackages | None) -> list[str]:
    """Say the same in lines for people."""
    if wanted is None:
        return []
    says = {
        "cached": "they are installed already",
        "install": f"they would be installed from {wanted.source}",
        "ask": f"after a yes they would be installed from {wanted.source}",
        "refused": f"refused: {wanted.reason}",
    }
    return [*wanted.dependencies, says[wanted.state]]


def ensure_environment(
    context: Context,
    text: str,
    python: str = "python3",
    *,
    consent: bool,
) -> Environment | None:
    """Give the environment that a script declares, built now where it is not there; nothing when it
    declares no packages.

    `consent` is a person's yes to installing them, where the setting `run.dependencies` asks for
    one; what is there needs none.
    """
    wanted = plan_packages(context, text, python)
    if wanted is None:
        return None
    if wanted.state == "refused" or (wanted.state == "ask" and not consent):
        error = _refusal(wanted)
        _note(
            context, "refused", wanted, reason=wanted.reason or "nobody said yes", code=error.code
        )
        raise error
    if wanted.state != "cached":
        _build(context, wanted)
    environment_folder.note_use(_root(context), wanted.key)
    return environment_of(context, wanted)


def _refusal(wanted: WantedPackages) -> RefusedError:
    if wanted.reason:
        return RefusedError(
            f"the packages that it declares are not installed: {wanted.reason}",
            code="dependencies",
            hint="see the metadata at the top of the script, and the setting run.dependencies",
        )
    return RefusedError(
        f"it needs packages that are not installed: {', '.join(wanted.dependencies)}",
        code="dependencies-ask",
        hint=f"say yes to installing them from {wanted.source}, or set run.dependencies to 'allow'",
    )


def environment_of(context: Context, wanted: WantedPackages) -> Environment:
    """Say where an environment lies, or will once it is built."""
    place = environment_folder.place(_root(context), wanted.key)
    return Environment(
        f"{place}/bin/python", (Mount(place, place),), wanted.key, wanted.dependencies
    )


def with_packages(python: Interpreter, own: Environment | None) -> Interpreter:
    """Give an interpreter with the packages of an environment, where there is one."""
    if own is None:
        return python
    return Interpreter((own.python, *python.command[1:]), (*python.mounts, *own.mounts))


def sweep_environments(
    context: Context, *, days: float = UNUSED_DAYS, dry_run: bool = False
) -> list[KeptEnvironment]:
    """Remove the environments that no script has used for so many days; give them, or those that
    would go.
    """
    if not context.data:
        return []
    root = _root(context)
    return [
        one
        for one in environment_folder.list_environments(root)
        if one.days >= days and (dry_run or environment_folder.drop(root, one.key))
    ]


def _root(context: Context) -> str:
    return f"{disk.real(context.data or '/')}/{FOLDER}"


def _python(context: Context) -> Interpreter:
    return find_interpreter.find("python3", (), "", context.home or "", context.data or "")


def _origin(context: Context) -> PackageSource:
    origin = read_package_source(context.settings.run.packages_from, context.home)
    if not origin.folder:
        return origin
    real = disk.real(origin.folder)
    if disk.kind_of(real) != "folder":
        return origin._replace(
            problem=f"run.packages_from names {origin.folder}, where there is no folder"
        )
    return origin._replace(folder=real, shown=real)


def _note(
    context: Context,
    outcome: str,
    wanted: WantedPackages,
    *,
    reason: str = "",
    code: str = "",
    seconds: float = 0.0,
) -> None:
    log.record(
        context,
        "environment",
        outcome,
        dependencies=list(wanted.dependencies),
        packages_from=wanted.source,
        key=wanted.key,
        reason=reason,
        code=code,
        seconds=round(seconds, 3),
    )


def _build(context: Context, wanted: WantedPackages) -> None:
    """Build an environment, unless another process is quicker, and note down what came of it."""
    root = _root(context)
    try:
        with environment_folder.build_alone(root, context.home, wanted.key) as build:
            if build is None:
                return
            seconds = _install(context, wanted, build)
            _check(wanted, build.strangers())
            build.finish(
                {
                    "dependencies": wanted.dependencies,
                    "packages_from": wanted.source,
                    "python": find_interpreter.python_build(),
                }
            )
    except BaseException as error:
        _note(
            context,
            "failed",
            wanted,
            reason=error.message if isinstance(error, MetierError) else type(error).__name__,
        )
        raise
    _note(context, "built", wanted, seconds=seconds)


def _check(wanted: WantedPackages, strangers: list[str]) -> None:
    """Refuse what was installed from elsewhere than the user said."""
    if strangers:
        raise SourceError(
            f"not every package came from {wanted.source}: {', '.join(strangers[:5])} came by an "
            f"address of its own",
            hint="ask for a version of what needs it that names no address",
            code="dependencies-failed",
        )


def _install(context: Context, wanted: WantedPackages, build: EnvironmentBuild) -> float:
    """Make an empty environment, then put the packages into it: two runs, since only the second may
    need the network.
    """
    python = _python(context)
    final = environment_folder.place(build.root, build.key)
    install = install_cage(
        python, build.env, final, _origin(context), wanted.dependencies, context.env
    )
    seconds = _step(
        context,
        bare_cage(python, build.env, final),
        "no environment can be made for its packages",
        "it takes Python's own venv",
    )
    return seconds + _step(
        context,
        install,
        "the packages that it declares cannot be installed",
        f"only ready-made packages (wheels) are installed, from {wanted.source}, and by Python's "
        f"own ensurepip, "
        "which some systems have in a package python3-venv",
    )


def _step(context: Context, cage: Cage, failed: str, hint: str) -> float:
    heard: list[str] = []
    streams = {stream: OutputCleaner(passwords(cage)) for stream in ("out", "err")}
    ended = context.open_sandbox().run(
        cage, lambda stream, data: heard.append(streams[stream].feed(data))
    )
    heard += [cleaner.finish() for cleaner in streams.values()]
    if ended.code == 0 and not ended.stopped:
        return ended.seconds
    words = "".join(heard).strip()
    last = words.rpartition("\n")[2] or f"exit code {ended.code}"
    raise SourceError(
        f"{failed}: {f'stopped, too much {ended.stopped}' if ended.stopped else last}",
        hint=hint,
        code="dependencies-failed",
    ).with_details(output=words[-MAX_INSTALLER_WORDS_CHARS:])


def sweep(context: Context, *, dry_run: bool) -> tuple[int, int]:
    """Remove them, or say what would go: how many, and their bytes."""
    if not context.data:
        return 0, 0
    sizes = [one.size for one in sweep_environments(context, dry_run=dry_run)]
    sizes += copies.sweep(context.data, dry_run=dry_run)
    return len(sizes), sum(sizes)
