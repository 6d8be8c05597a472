"""The packages that a script declares: asked about, installed in the sandbox, kept, and noted down."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fakes.cage import KeptSandbox

import metier
from metier.errors import MetierError, RefusedError, SandboxError, SourceError
from metier.run import environments
from metier.run.io import find_interpreter
from metier.run.model import Cage, RunEnded

if TYPE_CHECKING:
    from conftest import Home

    from metier.library import Library


def script(*dependencies: str, requires: str = "") -> str:
    lines = [f"requires-python = '{requires}'", f"dependencies = {list(dependencies)}"]
    return "\n".join(
        [
            "# /// script",
            *(f"# {line}" for line in lines),
            "# ///",
            "import tiny, sys; print(tiny.VALUE, sys.prefix)",
            "",
        ]
    )


class Place:
    """A library with some settings and a sandbox that runs nothing."""

    def __init__(self, home: Home, tmp_path: Path) -> None:
        self.home, self.folder, self.wheels = home, tmp_path, tmp_path / "wheels"
        self.box = KeptSandbox()
        self.wheels.mkdir()

    def open(self, dependencies: str = "ask", packages_from: str | None = None) -> Library:
        config = self.folder / "metier.toml"
        config.write_text(
            f'[run]\ndependencies = "{dependencies}"\npackages_from = "{self.wheels if packages_from is None else packages_from}"\n'
        )
        library = metier.open(env=self.home.env, config=config, cwd=self.folder)
        library.context.sandbox = self.box
        return library


@pytest.fixture
def place(home: Home, tmp_path: Path) -> Place:
    return Place(home, tmp_path)


def outcomes(library: Library) -> list[tuple[str, str]]:
    return [(one["event"], one["outcome"]) for one in library.audit_tail()]


@pytest.mark.parametrize("text", ["print(1)\n", script(), script(requires=">=3.8")])
def test_a_script_without_packages_needs_no_environment(place: Place, text: str) -> None:
    with place.open() as m:
        found = (
            environments.plan_packages(m.context, text),
            environments.ensure_environment(m.context, text, consent=False),
            environments.describe_packages(environments.plan_packages(m.context, text)),
        )

    assert (None, None, []) == found
    assert [] == place.box.cages


def test_packages_are_installed_after_a_yes_once_and_then_they_are_there(place: Place) -> None:
    with place.open() as m:
        before = environments.plan_packages(m.context, script("tiny"))
        with pytest.raises(RefusedError) as raised:
            environments.ensure_environment(m.context, script("tiny"), consent=False)
        first = environments.ensure_environment(m.context, script("tiny"), consent=True)
        again = environments.ensure_environment(m.context, script("tiny"), consent=False)
        after = environments.plan_packages(m.context, script("tiny"))
        noted = outcomes(m)

    assert before is not None
    assert after is not None
    assert first is not None
    assert ("ask", "cached", "dependencies-ask") == (before.state, after.state, raised.value.code)
    assert first == again
    assert 2 == len(place.box.cages)
    assert [("environment", "refused"), ("environment", "built")] == noted
    assert all(mount.source == mount.target and not mount.writable for mount in first.mounts)
    assert first.python.startswith(first.mounts[0].target)


def test_what_is_there_is_used_even_where_nothing_may_be_installed(place: Place) -> None:
    with place.open() as m:
        first = environments.ensure_environment(m.context, script("tiny"), consent=True)
    with place.open("never") as m:
        again = environments.ensure_environment(m.context, script("tiny"), consent=False)

    assert first == again
    assert first is not None


def test_the_order_of_packages_makes_no_other_environment(place: Place) -> None:
    with place.open("allow") as m:
        keys = {
            one.key
            for text in (script("a", "b"), script("b", "a"))
            if (one := environments.ensure_environment(m.context, text, consent=False))
        }

    assert 1 == len(keys)


def test_packages_for_another_python_than_metier_s_own_are_refused(place: Place) -> None:
    with place.open("allow", None) as m:
        wanted = environments.plan_packages(m.context, script("tiny"), "python3.99")
        free = environments.plan_packages(m.context, script(requires=">=3.99"), "python3.99")
        with pytest.raises(RefusedError, match=r"run by python3\.99"):
            environments.ensure_environment(m.context, script("tiny"), "python3.99", consent=True)

    assert ("refused", None) == (wanted.state if wanted else "", free)


@pytest.mark.parametrize(
    ("text", "dependencies", "packages_from", "word"),
    [
        (script("tiny"), "never", None, "never"),
        (script("tiny", requires="<3"), "allow", None, "needs Python"),
        (script("--pre"), "allow", None, "no name"),
        (script("tiny @ https://x.test"), "allow", None, "address"),
        (script("tiny"), "allow", "http://packages.test", "packages_from"),
        (script("tiny"), "allow", "wheels", "packages_from"),
        (script("tiny"), "allow", "/nowhere/wheels", "no folder"),
        (script("tiny") + script("tiny"), "allow", None, "2 blocks"),
    ],
)
def test_what_may_not_be_installed_is_refused_and_noted(
    place: Place, text: str, dependencies: str, packages_from: str | None, word: str
) -> None:
    with place.open(dependencies, packages_from) as m:
        wanted = environments.plan_packages(m.context, text)
        with pytest.raises(RefusedError) as raised:
            environments.ensure_environment(m.context, text, consent=True)
        noted, words = (
            outcomes(m),
            environments.describe_packages(environments.plan_packages(m.context, text)),
        )

    assert wanted is not None
    assert ("refused", "dependencies", True) == (
        wanted.state,
        raised.value.code,
        word in raised.value.message,
    )
    assert [("environment", "refused")] == noted
    assert word in words[-1]
    assert [] == place.box.cages


def test_only_the_step_that_needs_it_has_the_network(place: Place) -> None:
    with place.open("allow", "https://me:pa55word@packages.test/simple") as m:
        wanted = environments.plan_packages(m.context, script("tiny"))
        environments.ensure_environment(m.context, script("tiny"), consent=False)
        log = str(m.audit_tail())

    assert wanted is not None
    assert ("install", "https://packages.test/simple") == (wanted.state, wanted.source)
    assert [False, True] == [cage.network for cage in place.box.cages]
    assert "pa55word" not in log + "".join(
        word for cage in place.box.cages for word in cage.command
    )


def test_a_project_cannot_say_where_packages_come_from(place: Place) -> None:
    (place.folder / ".metier").mkdir()
    (place.folder / ".git").mkdir()
    (place.folder / ".metier/metier.toml").write_text(
        '[run]\ndependencies = "allow"\npackages_from = "https://evil.test"\n'
    )

    try:
        with place.open() as m:
            wanted = environments.plan_packages(m.context, script("tiny"))
    except MetierError as error:
        pytest.fail(f"{error.code}: {error.message}")

    assert wanted is not None
    assert ("ask", str(place.wheels)) == (wanted.state, wanted.source)


@pytest.mark.parametrize(
    ("box", "error", "word"),
    [
        (
            KeptSandbox(
                err=b"looking\n\x1b[31mERROR: No matching distribution found for tiny\x1b[0m\n",
                ended=RunEnded(1),
            ),
            SourceError,
            "No matching distribution",
        ),
        (KeptSandbox(ended=RunEnded(124, "time")), SourceError, "time"),
        (KeptSandbox(ended=RunEnded(3)), SourceError, "exit code 3"),
        (KeptSandbox(error=SandboxError("no sandbox works here")), SandboxError, "no sandbox"),
    ],
)
def test_what_cannot_be_installed_is_said_noted_and_leaves_nothing(
    place: Place, box: KeptSandbox, error: type[MetierError], word: str
) -> None:
    place.box = box

    with place.open("allow") as m:
        with pytest.raises(error) as raised:
            environments.ensure_environment(m.context, script("tiny"), consent=False)
        noted, wanted = outcomes(m), environments.plan_packages(m.context, script("tiny"))

    assert wanted is not None
    assert (True, True, "install") == (
        word in raised.value.message,
        "\x1b" not in raised.value.message,
        wanted.state,
    )
    assert [("environment", "failed")] == noted


def test_without_a_place_of_its_own_nothing_is_installed(place: Place) -> None:
    place.home.env.clear()

    with place.open("allow") as m:
        wanted = environments.plan_packages(m.context, script("tiny"))

    assert wanted is not None
    assert ("refused", True) == (wanted.state, "METIER_HOME" in wanted.reason)


def test_what_nobody_used_is_swept(place: Place) -> None:
    with place.open("allow") as m:
        for name in ("old", "new"):
            environments.ensure_environment(m.context, script(name), consent=False)
        old = environments.plan_packages(m.context, script("old"))
        assert old is not None
        os.utime(Path(place.home.env["METIER_HOME"], "run/envs", old.key, "ready.json"), (0, 0))

        planned = environments.sweep_environments(m.context, dry_run=True)
        swept = environments.sweep_environments(m.context)
        left = [
            one.state
            for name in ("old", "new")
            if (one := environments.plan_packages(m.context, script(name)))
        ]

    assert [old.key] == [one.key for one in planned] == [one.key for one in swept]
    assert ["install", "cached"] == left


def wheel(folder: Path, name: str = "tiny", needs: str = "") -> None:
    """Write a package of one line, ready-made; it may need another."""
    info = f"{name}-1.2.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.2-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", "VALUE = 42\n")
        more = f"Provides-Extra: more\nRequires-Dist: {needs}\n" if needs else ""
        file.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n{more}"
        )
        file.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr(
            f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n"
        )


def source(folder: Path) -> None:
    """Write a newer one as source: to build it is to run it."""
    data = b"open('/scratch/ran', 'w'); raise SystemExit('setup.py was run')\n"
    with tarfile.open(folder / "tiny-9.0.tar.gz", "w:gz") as file:
        member = tarfile.TarInfo("tiny-9.0/setup.py")
        member.size = len(data)
        file.addfile(member, io.BytesIO(data))


@pytest.mark.bubblewrap
def test_a_real_package_is_installed_and_imported_by_a_script_that_can_only_read_it(
    place: Place,
) -> None:
    wheel(place.wheels)
    source(place.wheels)
    heard: list[bytes] = []
    code = "import tiny, sys\nprint(tiny.VALUE, sys.prefix)\ntry: open(tiny.__file__, 'a')\nexcept OSError as error: print(error.errno)"

    with place.open("allow") as m:
        m.context.sandbox = None
        own = environments.ensure_environment(m.context, script("tiny>=1"), consent=False)
        assert own is not None
        python = find_interpreter.find("python3", (), "", str(place.home.path))
        cage = Cage((own.python, *python.command[1:], "-c", code), (*python.mounts, *own.mounts))
        ended = m.context.open_sandbox().run(cage, lambda _stream, data: heard.append(data))

    assert f"42 {own.mounts[0].target}\n30\n" == b"".join(heard).decode()
    assert 0 == ended.code


@pytest.mark.bubblewrap
def test_a_package_that_names_an_address_of_its_own_is_not_followed(place: Place) -> None:
    needs = "tiny @ file:///wheels/tiny-9.0.tar.gz ; extra == 'more'"
    wheel(place.wheels)
    wheel(place.wheels, "leads", needs)
    source(place.wheels)

    with place.open("allow") as m:
        m.context.sandbox = None
        with pytest.raises(SourceError) as raised:
            environments.ensure_environment(m.context, script("leads[more]"), consent=False)
        wanted = environments.plan_packages(m.context, script("leads[more]"))

    assert wanted is not None
    assert ("dependencies-failed", "install") == (raised.value.code, wanted.state)
    assert (
        "tiny would come from an address that a package names itself: file:///wheels/tiny-9.0.tar.gz"
        in raised.value.message
    )
    assert "setup.py was run" not in str(raised.value.details)


class Strange(KeptSandbox):
    """Installs a package with the note that an installer leaves beside what came by an address."""

    def run(self, cage: Cage, *given: Any, **named: Any) -> RunEnded:
        """Leave the note."""
        place = next(Path(mount.source) for mount in cage.mounts if mount.writable)
        note = place / "lib/python3.11/site-packages/tiny-1.2.dist-info/direct_url.json"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text("{}")
        return super().run(cage, *given, **named)


def test_an_environment_with_a_package_that_came_by_an_address_is_removed(place: Place) -> None:
    place.box = Strange()

    with place.open("allow") as m:
        with pytest.raises(SourceError) as raised:
            environments.ensure_environment(m.context, script("tiny"), consent=False)
        wanted, noted, left = (
            environments.plan_packages(m.context, script("tiny")),
            outcomes(m),
            environments.sweep_environments(m.context, days=0, dry_run=True),
        )

    assert wanted is not None
    assert ("dependencies-failed", "install", [("environment", "failed")], []) == (
        raised.value.code,
        wanted.state,
        noted,
        left,
    )
    assert "tiny-1.2 came by an address of its own" in raised.value.message
