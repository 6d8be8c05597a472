"""Environments with the packages that Python scripts declare: where these come from, and how one is built in a sandbox. Pure.

An environment knows the path that it was made for, so it is made at that path: the folder in which it is built is mounted where it
will lie once it is finished. Only ready-made packages are installed. To build one from its source would be to run a stranger's
code, and while it has the network.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from metier.runs import HOME, MIB, Bounds, Cage, Mount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.execute.interpreters import Interpreter

PYPI = "https://pypi.org/simple"
WHEELS = "/wheels"
"""Where a folder of packages is seen by the installer."""
BOUNDS = Bounds(seconds=600, memory_bytes=2048 * MIB, processes=128, output_bytes=4 * MIB, scratch_bytes=2048 * MIB,
                file_bytes=4096 * MIB)  # fmt: skip
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_FIXED = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, "TMPDIR": "/tmp", "LANG": "C.UTF-8", "TERM": "dumb",  # noqa: S108
          "PYTHONNOUSERSITE": "1", "PYTHONUTF8": "1"}  # fmt: skip
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
"""Runs the pip that comes with Python from where it lies: to put it into each environment would take longer than all the rest.

pip's own word for wheels alone does not hold for what a package names by its address, so no address is followed and no program is
started: pip builds nothing but by another process.
"""
_RECIPE = "2"
"""How environments are built: what was built in another way is not used any more."""
_INSTALL = ("install", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--no-cache-dir",
            "--progress-bar=off", "--root-user-action=ignore", "--no-warn-script-location", "--no-color")  # fmt: skip
_ADDRESS = re.compile(r"https://(?:([^\s/@?#]+)@)?([^\s/@?#]+)(/[^\s?#]*)?")
_LOGIN = re.compile(r"://([^/@\s]+)@")


class Environment(NamedTuple):
    """An environment that is there: what a script that declared it is run with."""

    python: str
    """The interpreter's path, inside a sandbox and outside."""
    mounts: tuple[Mount, ...]
    """What a sandbox must show beside what the interpreter itself needs."""
    key: str
    dependencies: tuple[str, ...]


class Origin(NamedTuple):
    """Where packages come from: an index, or a folder of wheels."""

    address: str = ""
    folder: str = ""
    shown: str = ""
    """The same for people and for the log, without the name and password that an address may hold."""
    problem: str = ""


def origin_of(text: str, home: str | None) -> Origin:
    """Read the setting `run.packages_from`.

    Nothing means PyPI. What pip itself is configured to do, by files and variables, counts here as little as any other part of the
    user's environment: one setting says where packages come from.
    """
    match = _ADDRESS.fullmatch(text or PYPI)
    if match and text.isascii() and text.isprintable():
        return Origin(address=text or PYPI, shown=f"https://{match[2]}{match[3] or ''}")
    path = f"{home}/{text[2:]}" if text.startswith("~/") and home else text
    if path.startswith("/") and "\0" not in path:
        return Origin(folder=path, shown=path)
    return Origin(problem="run.packages_from is neither an address that begins with https:// nor the full path of a folder")


def key_of(build: str, python: str, origin: Origin, dependencies: Sequence[str]) -> str:
    """Name an environment by all that makes it what it is."""
    parts = (_RECIPE, python, build, origin.shown, *sorted(dependencies))
    return sha256("".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def bare_cage(python: Interpreter, staging: str, final: str) -> Cage:
    """Give the cage in which an empty environment is made; it needs no network."""
    command = (python.command[0], "-I", "-m", "venv", "--without-pip", final)
    mounts = (*python.mounts, Mount(staging, final, writable=True))
    return Cage(command, mounts, environment=tuple(_FIXED.items()), bounds=BOUNDS, sockets=False)


def install_cage(
    python: Interpreter, staging: str, final: str, origin: Origin, dependencies: Sequence[str], env: Mapping[str, str]
) -> Cage:  # fmt: skip
    """Give the cage in which packages are installed; only an index needs the network.

    The address stands in a variable, since it may hold a password and anybody can read arguments.
    """
    mounts = (*python.mounts, Mount(staging, final, writable=True))
    variables = _FIXED | {"PIP_CONFIG_FILE": "/dev/null"}
    where: tuple[str, ...] = ()
    if origin.folder:
        mounts, where = (*mounts, Mount(origin.folder, WHEELS)), ("--no-index", f"--find-links={WHEELS}")
    else:
        variables |= {name: env[name] for name in PROXIES if env.get(name)} | {"PIP_INDEX_URL": origin.address}
    command = (f"{final}/bin/python", "-I", "-c", _PIP, *_INSTALL, *where, "--", *dependencies)
    return Cage(command, mounts, environment=tuple(variables.items()), network=not origin.folder, bounds=BOUNDS, sockets=False)


def passwords(cage: Cage) -> dict[str, str]:
    """Give what the addresses in a cage's variables have of names and passwords, so that it is shown nowhere."""
    found = [login for _name, value in cage.environment for login in _LOGIN.findall(value)]
    parts = [part for login in found for part in (login, login.partition(":")[2]) if part]
    return {f"login{number or ''}": part for number, part in enumerate(parts)}
