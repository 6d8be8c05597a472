"""How an environment for a script's packages is built, and how it is kept: whole, or not at all."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

import pytest

from metier.errors import StoreError
from metier.run.environments import (
    PYPI,
    WHEELS,
    PackageSource,
    bare_cage,
    install_cage,
    key_of,
    passwords,
    read_package_source,
)
from metier.run.interpreters import Interpreter
from metier.run.io import environment_folder
from metier.run.model import Mount

PYTHON = Interpreter(("/opt/python/bin/python3.11", "-s"), (Mount("/opt/python", "/opt/python"),))
KEY = "0123abcd"


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("", PackageSource(PYPI, shown=PYPI)),
        (
            "https://packages.test/simple/",
            PackageSource("https://packages.test/simple/", shown="https://packages.test/simple/"),
        ),
        (
            "https://me:pass@packages.test",
            PackageSource("https://me:pass@packages.test", shown="https://packages.test"),
        ),
        ("/srv/wheels", PackageSource(folder="/srv/wheels", shown="/srv/wheels")),
        ("~/wheels", PackageSource(folder="/home/me/wheels", shown="/home/me/wheels")),
    ],
)
def test_packages_come_from_an_index_or_a_folder(text: str, origin: PackageSource) -> None:
    found = read_package_source(text, "/home/me")

    assert origin == found


@pytest.mark.parametrize(
    "text",
    [
        "http://packages.test",
        "wheels",
        "./wheels",
        "--index-url=x",
        "file:///x",
        "git+https://x.test",
        "https://",
        "https://x y",
        "https://x.test/?q",
        "ftp://x",
        "/a\0b",
        "https://x\n.test",
    ],
)
def test_packages_come_from_nowhere_else(text: str) -> None:
    found = read_package_source(text, "/home/me")

    assert (True, "", "") == (bool(found.problem), found.address, found.folder)


def test_a_key_stands_for_all_that_makes_an_environment() -> None:
    origin = read_package_source("", None)
    first = key_of("3.11.7", "/usr/bin/python3", origin, ["a", "b"])

    others = {
        key_of("3.11.8", "/usr/bin/python3", origin, ["a", "b"]),
        key_of("3.11.7", "/opt/bin/python3", origin, ["a", "b"]),
        key_of("3.11.7", "/usr/bin/python3", read_package_source("/srv", None), ["a", "b"]),
        key_of("3.11.7", "/usr/bin/python3", origin, ["a"]),
        key_of("3.11.7", "/usr/bin/python3", origin, ["ab"]),
    }

    assert first == key_of("3.11.7", "/usr/bin/python3", origin, ["b", "a"])
    assert (5, False) == (len(others), first in others)


def test_an_empty_environment_is_made_without_network_at_the_path_where_it_will_lie() -> None:
    cage = bare_cage(PYTHON, "/data/.new-k/env", "/data/k/env")

    assert (
        "/opt/python/bin/python3.11",
        "-I",
        "-m",
        "venv",
        "--without-pip",
        "/data/k/env",
    ) == cage.command
    assert [Mount("/data/.new-k/env", "/data/k/env", writable=True)] == [
        mount for mount in cage.mounts if mount.writable
    ]
    assert (False, ()) == (cage.network, cage.files)


def test_packages_of_an_index_are_installed_with_network_and_no_password_among_the_arguments() -> (
    None
):
    env = {
        "https_proxy": "http://u:proxypass@proxy.test:3128",
        "HOME": "/home/me",
        "TOKEN": "x",
        "PIP_INDEX_URL": "https://other.test",
    }
    origin = read_package_source("https://me:pa55word@packages.test/simple", None)

    cage = install_cage(
        PYTHON, "/data/.new-k/env", "/data/k/env", origin, ("rich>=1", "requests"), env
    )

    variables = dict(cage.environment)
    assert cage.network
    assert {"--only-binary=:all:", "--no-input"} < set(cage.command)
    assert ("--", "rich>=1", "requests") == cage.command[-3:]
    assert not any("pa55word" in word or "proxypass" in word for word in cage.command)
    assert (origin.address, env["https_proxy"], "/dev/null") == (
        variables["PIP_INDEX_URL"],
        variables["https_proxy"],
        variables["PIP_CONFIG_FILE"],
    )
    assert ("/home/skill", False) == (variables["HOME"], "TOKEN" in variables)
    assert {"me:pa55word", "pa55word", "u:proxypass", "proxypass"} == set(passwords(cage).values())


def test_packages_of_a_folder_are_installed_without_network() -> None:
    origin = read_package_source("/srv/wheels", None)

    cage = install_cage(
        PYTHON,
        "/data/.new-k/env",
        "/data/k/env",
        origin,
        ("rich",),
        {"https_proxy": "http://x.test"},
    )

    assert {"--no-index", f"--find-links={WHEELS}"} < set(cage.command)
    assert Mount("/srv/wheels", WHEELS) in cage.mounts
    assert (False, False) == (cage.network, "https_proxy" in dict(cage.environment))


def test_an_environment_is_there_only_once_it_is_finished(tmp_path: Path) -> None:
    root = str(tmp_path / "run/envs")

    with environment_folder.build_alone(root, None, KEY) as desk:
        assert desk is not None
        Path(desk.env, "pyvenv.cfg").write_text("")
        before = environment_folder.is_ready(root, KEY)
        desk.finish({"dependencies": ["rich"]})

    assert (False, True) == (before, environment_folder.is_ready(root, KEY))
    assert ["pyvenv.cfg"] == os.listdir(environment_folder.place(root, KEY))
    assert [f".lock-{KEY}", KEY] == sorted(os.listdir(root))


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    root = str(tmp_path)

    with pytest.raises(KeyboardInterrupt), environment_folder.build_alone(root, None, KEY):
        raise KeyboardInterrupt

    assert ([f".lock-{KEY}"], False) == (os.listdir(root), environment_folder.is_ready(root, KEY))


def test_what_a_process_that_was_killed_has_left_is_cleared_and_never_counts(
    tmp_path: Path,
) -> None:
    (tmp_path / f".new-{KEY}/env/lib").mkdir(parents=True)
    (tmp_path / KEY / "env").mkdir(parents=True)
    root = str(tmp_path)
    before = environment_folder.is_ready(root, KEY)

    with environment_folder.build_alone(root, None, KEY) as desk:
        assert desk is not None
        inside = os.listdir(desk.env)
        desk.finish({})

    assert (False, [], True) == (before, inside, environment_folder.is_ready(root, KEY))


def test_two_that_build_the_same_at_once_build_it_once(tmp_path: Path) -> None:
    root, built = str(tmp_path), []
    together = threading.Barrier(4)

    def build() -> None:
        together.wait()
        with environment_folder.build_alone(root, None, KEY) as desk:
            if desk is not None:
                built.append(desk)
                desk.finish({})

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert (1, True) == (len(built), environment_folder.is_ready(root, KEY))


@pytest.mark.parametrize("planted", ["link", "file"])
def test_something_planted_in_the_place_of_the_store_is_an_error_with_a_hint(
    planted: str, tmp_path: Path
) -> None:
    if planted == "file":
        (tmp_path / "run").write_text("")
    else:
        (tmp_path / "run").symlink_to("/nowhere/at/all")

    with (
        pytest.raises(StoreError) as raised,
        environment_folder.build_alone(str(tmp_path / "run/envs"), None, KEY),
    ):
        pass

    assert "METIER_HOME" in raised.value.hint


def test_what_was_not_used_for_long_is_listed_first_and_can_be_dropped(tmp_path: Path) -> None:
    root = str(tmp_path)
    for key in ("old", "new"):
        with environment_folder.build_alone(root, None, key) as desk:
            assert desk is not None
            Path(desk.env, "file").write_bytes(b"x" * 1000)
            desk.finish({})
    os.utime(tmp_path / "old/ready.json", (0, 0))
    (tmp_path / ".new-dead/env").mkdir(parents=True)

    listed = environment_folder.list_environments(root)
    environment_folder.note_use(root, "old")
    used = {one.key: one.days for one in environment_folder.list_environments(root)}["old"]
    dropped = [environment_folder.drop(root, "old"), environment_folder.drop(root, ".new-dead")]

    assert {".new-dead", "old"} == {one.key for one in listed[:2]}
    assert (True, True) == (listed[1].days > 1000, used < 1)
    assert all(one.size >= 1000 for one in listed if one.key in {"old", "new"})
    assert ([True, True], False, True) == (
        dropped,
        environment_folder.is_ready(root, "old"),
        environment_folder.is_ready(root, "new"),
    )


def test_what_is_being_built_is_not_dropped(tmp_path: Path) -> None:
    root = str(tmp_path)

    with environment_folder.build_alone(root, None, KEY) as desk:
        assert desk is not None
        dropped = environment_folder.drop(root, f".new-{KEY}")
        still = os.path.isdir(desk.env)

    assert (False, True) == (dropped, still)


def test_where_nothing_was_ever_built_nothing_is_listed(tmp_path: Path) -> None:
    listed = environment_folder.list_environments(str(tmp_path / "nothing"))

    assert [] == listed


def test_the_installer_builds_nothing_even_where_it_is_asked_to(tmp_path: Path) -> None:
    data = b"raise SystemExit('setup.py was run')\n"
    with tarfile.open(tmp_path / "tiny-9.0.tar.gz", "w:gz") as file:
        member = tarfile.TarInfo("tiny-9.0/setup.py")
        member.size = len(data)
        file.addfile(member, io.BytesIO(data))
    cage = install_cage(
        PYTHON, "/staging", "/final", read_package_source(str(tmp_path), None), (), {}
    )
    program = cage.command[cage.command.index("-c") + 1]

    line = [
        sys.executable,
        "-I",
        "-c",
        program,
        "install",
        "--no-index",
        f"--find-links={tmp_path}",
        f"--target={tmp_path}/env",
        "tiny",
    ]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)

    assert (False, True) == (
        done.returncode == 0,
        "a package would have to be built" in done.stderr,
    ), done
    assert "setup.py was run" not in done.stdout + done.stderr


def test_neither_step_of_an_installation_is_led_to_a_socket() -> None:
    cages = [
        bare_cage(PYTHON, "/staging", "/final"),
        install_cage(
            PYTHON, "/staging", "/final", read_package_source("/srv/wheels", None), (), {}
        ),
    ]

    assert [False, False] == [cage.sockets for cage in cages]
