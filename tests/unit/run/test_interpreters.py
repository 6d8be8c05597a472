"""Which program reads a script, with which options, and how much of its installation a script may see."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from metier.errors import RefusedError
from metier.run.interpreters import (
    PYTHON_OPTIONS,
    Interpreter,
    is_installation,
    options_of,
    prefix_of,
)
from metier.run.io.find_interpreter import find
from metier.run.model import Cage, Mount

ELF = b"\x7fELF"


def program(path: Path, data: bytes = ELF) -> str:
    """Write a file that can be run, as far as its mode goes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("line", "name", "options"),
    [
        ("#!/bin/bash -eu", "bash", ("-eu",)),
        (
            "#!/usr/bin/env -S node --no-warnings --enable-source-maps\r",
            "node",
            ("--no-warnings", "--enable-source-maps"),
        ),
        ("#!/usr/bin/env -S X=1 perl -w", "perl", ("-w",)),
        ("#! /usr/bin/perl -w -T", "perl", ("-w", "-T")),
        ("#!/usr/bin/env python3", "python3", ()),
        ("#!/usr/bin/env -S uv run --script", "python3", ()),
        ("#!/usr/bin/env -S deno run --allow-net", "deno", ()),
        ("#!/usr/bin/env -S node --require ./evil.js", "node", ()),
        ("#!/bin/sh /etc/passwd", "sh", ()),
        ("#!/bin/sh " + "-e " * 9, "sh", ()),
        ("#!/bin/sh -" + "e" * 200, "sh", ()),
        ("#!/bin/sh -\x1b[2J", "sh", ()),
        ("#!/bin/sh 'unfinished", "sh", ()),
        ("#!", "sh", ()),
        ("#!/usr/bin/env", "env", ()),
        ("echo -e", "echo", ()),
        ("", "sh", ()),
    ],
)
def test_options_of_the_first_line_are_kept_where_it_has_nothing_else(
    line: str, name: str, options: tuple[str, ...]
) -> None:
    found = options_of(f"{line}\nrest -x\n".encode(), name)

    assert options == found


@pytest.mark.parametrize(
    ("path", "prefix"),
    [
        ("/opt/node/bin/node", "/opt/node"),
        ("/home/me/.nvm/versions/node/v20/bin/node", "/home/me/.nvm/versions/node/v20"),
        ("/home/me/miniconda3/bin/node", "/home/me/miniconda3"),
        ("/home/linuxbrew/.linuxbrew/Cellar/node/20/bin/node", "/home/linuxbrew/.linuxbrew"),
        ("/opt/bin/node", ""),
        ("/bin/node", ""),
        ("/home/me/bin/node", ""),
        ("/home/bin/node", ""),
        ("/home/me/.local/bin/deno", ""),
        ("/home/me/.cargo/bin/x", ""),
        ("/home/me/tools/node", ""),
        ("/home/me/data/metier/bin/node", ""),
        ("/home/me/data/metier/tools/node/bin/node", ""),
        ("/home/me/data/bin/node", ""),
    ],
)
def test_a_script_sees_an_installation_and_never_more(path: str, prefix: str) -> None:
    found = prefix_of(path, "/home/me", ["/home/me/data/metier"])

    assert prefix == found


@pytest.mark.parametrize("name", ["python", "python3", f"python3.{sys.version_info.minor}"])
def test_python_is_the_one_that_metier_runs_on_without_metier_s_packages(
    name: str, tmp_path: Path
) -> None:
    found = find(name, (), "", str(tmp_path))

    real = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]  # noqa: SLF001 - there is no other name for it
    assert (real, *PYTHON_OPTIONS) == found.command
    assert all(mount.source == mount.target and not mount.writable for mount in found.mounts)
    assert not any(
        os.path.realpath(sys.prefix).startswith(mount.source)
        for mount in found.mounts
        if sys.prefix != sys.base_prefix
    )


def test_python_that_lies_among_other_things_is_shown_without_them() -> None:
    real = Path(os.path.realpath(sys._base_executable))  # type: ignore[attr-defined]  # noqa: SLF001
    prefix = real.parent.parent

    found = find("python3", (), "", str(prefix / "a-home"))

    assert str(prefix) not in [mount.source for mount in found.mounts]
    assert bool(found.mounts) == (not str(real).startswith("/usr/"))
    assert all(Path(mount.source) == real or "lib" in mount.source for mount in found.mounts)


def test_a_program_of_the_system_needs_no_mount() -> None:
    found = find("sh", (), "/nowhere:/bin:/usr/bin", "/home/me")

    assert () == found.mounts
    assert found.command[0].endswith("/sh")


def test_a_program_elsewhere_is_shown_with_its_installation_and_by_its_real_path(
    tmp_path: Path,
) -> None:
    real = program(tmp_path / "apps/ruby-3/bin/ruby")
    (tmp_path / "apps/ruby-3/lib/ruby").mkdir(parents=True)
    (tmp_path / "links").mkdir()
    (tmp_path / "links/ruby").symlink_to(real)

    found = find("ruby", (), str(tmp_path / "links"), str(tmp_path / "home"))

    folder = str(tmp_path / "apps/ruby-3")
    assert Interpreter((real,), (Mount(folder, folder),)) == found


PERL = ("perl5",)


@pytest.mark.parametrize(
    ("names", "libraries", "name", "whole"),
    [
        ("bin include lib share", ("python3.11", "pkgconfig"), "python3.11", True),  # pyenv
        ("bin include lib share BUILD .lock", ("python3.12",), "python3.12", True),  # uv
        (
            "bin include lib share CHANGELOG.md LICENSE README.md",
            ("node_modules",),
            "node",
            True,
        ),  # nvm, and what it unpacks
        (
            "bin compiler_compat conda-meta envs etc lib pkgs shell ssl LICENSE.txt .nonadmin",
            ("libicu.so", "node_modules"),
            "node",
            True,
        ),
        ("bin lib man", PERL, "perl", True),
        ("bin lib man", PERL, "perl5.38.0", True),
        ("bin lib man", ("5.36.0", "site_perl"), "perl5.36.0", True),  # perlbrew
        ("bin lib man", ("5.36.0", "site_perl"), "ruby", False),
        ("bin include lib lib64 share", ("R",), "Rscript", True),
        ("bin etc include lib libexec share LICENSE.md", ("julia", "libjulia.so"), "julia", True),
        ("bin lib secret-plans", PERL, "perl", False),
        ("bin lib .ssh", PERL, "perl", False),
        ("bin lib .git README.md", PERL, "perl", False),
        ("bin lib pyvenv.cfg include notes.txt", ("python3.11",), "python3", False),
        ("bin lib var", PERL, "perl", False),
        ("bin lib README of mine", PERL, "perl", False),
        ("bin", (), "perl", False),
        ("bin doc lib share", ("mine", "perlite", "paper"), "perl", False),
        ("bin doc share", (), "perl", False),
        ("bin conda-meta notes", (), "perl", False),
        ("", (), "perl", False),
    ],
)
def test_an_installation_is_known_by_its_names_and_nothing_else_is_one(
    names: str, libraries: tuple[str, ...], name: str, whole: bool
) -> None:
    found = is_installation(names.split(), libraries, name)

    assert whole == found


def test_a_program_among_somebody_s_work_is_shown_without_it(tmp_path: Path) -> None:
    projects = tmp_path / "home/projects"
    real = program(projects / "bin/perl")
    for name in (
        "plans/next.txt",
        "lib/perl5/strict.pm",
        "lib/mine/keys.txt",
        "lib/libperl.so.5.36",
        "share/perl/x",
        "bin/other",
    ):
        (projects / name).parent.mkdir(parents=True, exist_ok=True)
        (projects / name).write_text("")
    (projects / "lib/perl").symlink_to(tmp_path / "home")
    (projects / "lib/perl-mine").symlink_to("mine")
    (projects / "lib/perl-gone").symlink_to("perl-away")
    (projects / "lib/libperl.so").symlink_to("libperl.so.5.36")

    found = find("perl", (), str(projects / "bin"), str(tmp_path / "home"))

    library = str(projects / "lib/libperl.so")
    shown = [str(projects / name) for name in ("lib/libperl.so.5.36", "lib/perl5", "share/perl")]
    mounts = (
        Mount(real, real),
        Mount(f"{library}.5.36", library),
        *(Mount(path, path) for path in shown),
    )
    assert Interpreter((real,), mounts) == found


def test_deno_does_not_ask_what_the_sandbox_has_decided(tmp_path: Path) -> None:
    real = program(tmp_path / ".deno/bin/deno")

    found = find("deno", (), str(tmp_path / ".deno/bin"), str(tmp_path))

    assert Interpreter((real, "run", "--allow-all"), (Mount(real, real),)) == found


def test_what_only_picks_a_version_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path / "shims/node", b"#!/bin/sh\nexec pick node\n")
    picker = program(tmp_path / "volta/bin/volta-shim")
    (tmp_path / "volta/bin/node").symlink_to(picker)
    (tmp_path / "folder/node").mkdir(parents=True)
    (tmp_path / "dead").mkdir()
    (tmp_path / "dead/node").symlink_to("/nowhere/node")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/node").write_bytes(ELF)  # nobody may run it
    real = program(tmp_path / "apps/node/bin/node")
    path = ":".join(
        str(tmp_path / one)
        for one in ("shims", "volta/bin", "folder", "dead", "plain", "apps/node/bin")
    )

    found = find("node", (), path, str(tmp_path / "home"))

    assert (real,) == found.command


def test_a_folder_that_depends_on_where_one_stands_is_not_looked_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "lua")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(RefusedError) as raised:
        find("lua", (), ":.:./:bin/..", str(tmp_path / "home"))

    assert ("interpreter", True) == (raised.value.code, "install lua" in raised.value.hint)


@pytest.mark.parametrize(
    "name",
    ["julia", "env", "", "..", "/bin/sh", "sh ", "-c", "a\x1b[2J", 'x"]', "é", "x" * 65, "python2"],
)
def test_any_other_program_is_refused(name: str) -> None:
    with pytest.raises(RefusedError) as raised:
        find(name, (), "/bin:/usr/bin", "/home/me")

    assert "interpreter" == raised.value.code
    assert "run.interpreters" in raised.value.hint
    assert (raised.value.message + raised.value.hint).isprintable()


@pytest.mark.parametrize("by_path", [False, True])
def test_a_program_that_the_user_names_is_allowed(by_path: bool, tmp_path: Path) -> None:
    real = program(tmp_path / "apps/julia/bin/julia")
    extra, path = ([real], "") if by_path else (["julia"], str(tmp_path / "apps/julia/bin"))

    found = find("julia", extra, path, str(tmp_path / "home"))

    assert (real,) == found.command


def test_a_path_allows_no_other_program(tmp_path: Path) -> None:
    extra = [program(tmp_path / "apps/julia/bin/julia")]

    with pytest.raises(RefusedError) as raised:
        find("awk", extra, "/usr/bin:/bin", str(tmp_path / "home"))

    assert "interpreter" == raised.value.code


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("python3", "import json, ssl, sys; print('ran')"),
        ("sh", "echo ran"),
        ("bash", "echo ran"),
        ("perl", "print 'ran'"),
    ],
)
def test_what_is_shown_is_enough_to_run(name: str, code: str, tmp_path: Path) -> None:
    from metier.run.io.bubblewrap import Bubblewrap

    heard: list[bytes] = []
    found = find(name, (), os.environ["PATH"], str(tmp_path))

    option = "-e" if name == "perl" else "-c"
    ended = Bubblewrap().run(
        Cage((*found.command, option, code), found.mounts), lambda _stream, data: heard.append(data)
    )

    assert (0, b"ran") == (ended.code, b"".join(heard).strip())


def test_python_finds_what_lies_beside_a_script_and_leaves_nothing_there(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("WORD = 'found'\n")
    (tmp_path / "script.py").write_text("import beside\nprint(beside.WORD)\n")
    command = find("python3", (), "", str(tmp_path)).command

    said = subprocess.run(
        [*command, tmp_path / "script.py"], capture_output=True, check=True, env={}
    ).stdout

    assert (b"found\n", ["beside.py", "script.py"]) == (
        said,
        sorted(path.name for path in tmp_path.iterdir()),
    )
    assert shutil.which(command[0])
