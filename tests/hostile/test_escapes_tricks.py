"""Tricks on the way to the sandbox and out of it: what is swapped after the decision, and what the output carries."""

from __future__ import annotations

import base64
import os
import re
import shutil
import socket
from typing import TYPE_CHECKING, Any

import pytest
from fakes.jail import KEY, NAME, OWN, USERS, Jail, Lent, alive, jailed

from metier.errors import MetierError
from metier.run import cages
from metier.run.io.bubblewrap import Bubblewrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.run.model import Ran

pytestmark = [pytest.mark.bubblewrap, pytest.mark.python3]

PRINTS = (
    'import os\nprint("ran", sorted(os.listdir("/skill")), open("/skill/lib/code.py").read())\n'
)
SWAPPED = 'print("swapped")\n'


def seen(task: Callable[[], Ran]) -> tuple[str, str]:
    """Give the kind of error that a run ended with, or nothing; and what it printed or said."""
    try:
        return "", task().output
    except MetierError as error:
        return f"{type(error).__name__} {error.code}", f"{error.message} {error.hint}"


def to_folder(aim: str) -> Callable[[Jail], None]:
    """Put a link in the place of the skill's folder."""

    def swap(jail: Jail) -> None:
        os.rename(jail.skill, f"{jail.folder}/aside")
        os.symlink(aim.replace("~", jail.home), jail.skill)

    return swap


def to_file(aim: str) -> Callable[[Jail], None]:
    """Put a link in the place of the code."""

    def swap(jail: Jail) -> None:
        os.unlink(f"{jail.skill}/lib/code.py")
        os.symlink(aim.replace("~", jail.home), f"{jail.skill}/lib/code.py")

    return swap


def changed(path: str) -> Callable[[Jail], None]:
    """Write other bytes into a file of the skill."""

    def swap(jail: Jail) -> None:
        jail.write(f"{jail.skill}/{path}", SWAPPED)

    return swap


def gone(jail: Jail) -> None:
    """Take the skill away."""
    shutil.rmtree(jail.skill)


SWAPS: dict[str, Callable[[Jail], None]] = {
    "the folder is a link to the root": to_folder("/"),
    "the folder is a link to the home": to_folder("~"),
    "the folder is a link to the keys": to_folder("~/.ssh"),
    "the code is a link to a key": to_file("~/.ssh/id_ed25519"),
    "the code is a link to another file": to_file("~/.agents/skills/other/SKILL.md"),
    "the code is a device": to_file("/dev/zero"),
    "the code is changed": changed("lib/code.py"),
    "the script is changed": changed("scripts/go.sh"),
    "a file is added": changed("lib/os.py"),
    "the folder is gone": gone,
}


@pytest.mark.parametrize("name", SWAPS)
@pytest.mark.parametrize("user", USERS)
def test_what_is_swapped_between_the_decision_and_the_run_is_not_run(user: str, name: str) -> None:
    def task(jail: Jail) -> tuple[tuple[str, str], bool]:
        jail.write(f"{jail.skill}/lib/code.py", PRINTS)
        jail.write(f"{jail.skill}/scripts/go.sh", "exec /usr/bin/python3 -S /skill/lib/code.py\n")
        jail.approve()
        with pytest.MonkeyPatch.context() as patch:
            laid = cages.cage_script

            def late(*given: Any, **named: Any) -> cages.FilledCage:
                SWAPS[name](jail)  # every gate has been passed, and nothing is copied yet
                return laid(*given, **named)

            patch.setattr(cages, "cage_script", late)
            first = seen(lambda: jail.run_script("scripts/go.sh"))
        return first, os.path.isdir(f"{jail.data}/run/trees") and bool(
            os.listdir(f"{jail.data}/run/trees")
        )

    (kind, said), copied = jailed(user, task)

    assert kind.startswith(("IntegrityError", "StoreError")), (kind, said)
    assert not copied
    assert not any(word in said for word in ("ran", "swapped", KEY))


@pytest.mark.parametrize("user", USERS)
def test_what_is_swapped_once_the_copy_is_made_changes_nothing(user: str) -> None:
    class Late(Bubblewrap):
        def run(self, *given: Any, **named: Any) -> Any:
            to_folder("~")(jail_of[0])
            return super().run(*given, **named)

    jail_of: list[Jail] = []

    def task(jail: Jail) -> Ran:
        jail_of.append(jail)
        jail.write(f"{jail.skill}/lib/code.py", PRINTS)
        jail.write(f"{jail.skill}/scripts/go.sh", "exec /usr/bin/python3 -S /skill/lib/code.py\n")
        jail.approve()
        with jail.open() as library, pytest.MonkeyPatch.context() as patch:
            patch.setattr(library.context, "open_sandbox", Late)
            return library.run(NAME, "scripts/go.sh", consent=True)

    ran = jailed(user, task)

    assert (0, f"ran ['SKILL.md', 'lib', 'scripts'] {PRINTS}\n") == (ran.code, ran.output)


@pytest.mark.parametrize("path", ["lib/code.py", "scripts/go.sh"])
@pytest.mark.parametrize("user", USERS)
def test_a_skill_that_changed_after_approval_is_not_run_before_a_new_yes(
    user: str, path: str
) -> None:
    def task(jail: Jail) -> tuple[str, str]:
        jail.run(PRINTS)
        changed(path)(jail)
        return seen(lambda: jail.run_script("scripts/go.sh", consent=False))

    kind, said = jailed(user, task)

    assert "RefusedError ask" == kind
    assert "swapped" not in said


@pytest.mark.parametrize("where", ["the folder itself", "a folder above it"])
@pytest.mark.parametrize("user", USERS)
def test_a_folder_that_was_lent_and_then_swapped_is_not_lent(user: str, where: str) -> None:
    class Late(Bubblewrap):
        def run(self, *given: Any, **named: Any) -> Any:
            jail = jail_of[0]
            path = f"{jail.folder}/lent/to/here"
            swapped, aim = (
                (path, f"{jail.home}/.ssh")
                if where == "the folder itself"
                else (os.path.dirname(path), f"{jail.folder}/other")
            )
            os.rename(swapped, f"{jail.folder}/aside")
            os.symlink(aim, swapped)
            return super().run(*given, **named)

    jail_of: list[Jail] = []

    def task(jail: Jail) -> tuple[str, str]:
        jail_of.append(jail)
        jail.write(f"{jail.folder}/lent/to/here/note", "lent")
        jail.write(f"{jail.folder}/other/here/id_ed25519", KEY)
        jail.write(f"{jail.skill}/scripts/go.sh", 'cat "$1"/*\n')
        jail.approve()
        with jail.open() as library, pytest.MonkeyPatch.context() as patch:
            patch.setattr(library.context, "open_sandbox", Late)
            lent = f"{jail.folder}/lent/to/here"
            return seen(
                lambda: library.run(NAME, "scripts/go.sh", [lent], consent=True, read=[lent])
            )

    kind, said = jailed(user, task)

    assert "SandboxError sandbox-mount" == kind, said
    assert KEY not in said


AROUND = """#!/usr/bin/env bash
echo "$BASH" "$0"
for path in "$1"/* "$1"/lib/*; do echo "sees ${path#"$1"/}"; done
/usr/bin/python3 -S -c 'import socket, sys
for kind in ("SOCK_STREAM", "SOCK_DGRAM"):
    try:
        made = socket.socket(socket.AF_UNIX, getattr(socket, kind))
        made.connect(f"{sys.argv[1]}/lib/bash/{kind}")
        made.send(b"out")
        print("reached", kind)
    except OSError as error:
        print("refused", error.errno)' "$1"
"""


@pytest.mark.loopback
@pytest.mark.parametrize("extra", ["plans", "LICENSE"])
@pytest.mark.parametrize("user", USERS)
def test_an_interpreter_among_somebody_s_work_shows_none_of_it_and_leads_to_nobody(
    user: str, extra: str
) -> None:
    def task(jail: Jail) -> tuple[str, int, str]:
        prefix = f"{jail.home}/projects"
        os.makedirs(f"{prefix}/bin")
        shutil.copy("/bin/bash", f"{prefix}/bin/bash")
        jail.write(f"{prefix}/{extra}", KEY)
        jail.write(f"{prefix}/lib/bash/own", "")
        jail.env["PATH"] = f"{prefix}/bin:/usr/bin:/bin"
        jail.write(f"{jail.skill}/scripts/go.sh", AROUND)
        jail.approve()
        came = 0
        with (
            socket.socket(socket.AF_UNIX) as stream,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram,
        ):
            for one in (stream, datagram):
                one.bind(f"{prefix}/lib/bash/{one.type.name}")
                one.setblocking(False)
            stream.listen()
            ran = jail.run_script("scripts/go.sh", [prefix])
            for take in (stream.accept, lambda: datagram.recv(64)):
                try:
                    take()
                except BlockingIOError:
                    continue
                came += 1
        return ran.output, came, prefix

    said, came, prefix = jailed(user, task)

    seen = {"plans": [], "LICENSE": ["LICENSE"]}[
        extra
    ]  # what is an installation and nothing else is shown whole
    assert [
        f"{prefix}/bin/bash /skill/scripts/go.sh",
        *(f"sees {name}" for name in (*seen, "bin", "lib", "lib/bash")),
        *["refused 97"] * 2,
    ] == said.splitlines()
    assert 0 == came


REFUSED_LOANS = [
    "~",
    "~/.ssh/..",
    "/",
    "~/..",
    "{data}",
    "{data}/secrets",
    "{data}/run",
    "{config}",
    "/proc",
    "/proc/self",
    "/sys",
    "/dev",
    "/etc/shadow/x",
    "/proc/self/root",
    "/proc/1/environ",
]


@pytest.mark.parametrize("user", USERS)
def test_what_must_never_be_lent_is_not_lent_under_any_name(user: str) -> None:
    def task(jail: Jail) -> dict[str, tuple[str, str]]:
        found = {}
        for path in REFUSED_LOANS:
            named = path.replace("~", jail.home).format(data=jail.data, config=jail.config)
            link = f"{jail.folder}/link"
            for way in (named, link):
                if os.path.islink(link):
                    os.unlink(link)
                os.symlink(named, link)
                found[f"{path} {way == link}"] = seen(
                    lambda way=way, named=named: jail.run(  # type: ignore[misc]
                        "import os, sys\nprint(os.listdir(sys.argv[1]) if os.path.isdir(sys.argv[1]) else os.path.exists(sys.argv[1]))",
                        [named],
                        Lent(read=(way,), write=(way,)),
                    )
                )
        return found

    found = jailed(user, task)

    leaks = {
        path: got
        for path, got in found.items()
        if not got[0] and re.search(r"\.ssh|secrets|values\.env|metier-home|trees|shadow", got[1])
    }
    assert 2 * len(REFUSED_LOANS) == len(found)
    assert {} == leaks


STEERING = r"""
import sys, time
out = sys.stdout.buffer
for part in (b"a\x1b[2J\x1b]0;title\x07b\x1b", b"[31mc\x1b[0m\x9b2Jd\xc2\x9b2Je", b"\x1bP+q\x1b\\f\x08\x08g\rh\n", b"\xe2\x80\xaei\n",
             b"\x1b]52;c;cm0gLXJm\x07j\x1b]8;;http://x\x1b\\k\x1b]8;;\x1b\\\n"):
    out.write(part)
    out.flush()
    time.sleep(0.02)
"""


@pytest.mark.parametrize("user", USERS)
def test_output_steers_no_terminal(user: str) -> None:
    heard: list[str] = []

    def task(jail: Jail) -> tuple[str, str]:
        ran = jail.run(STEERING, hear=lambda _stream, text: heard.append(text))
        return ran.output, "".join(heard)

    kept, live = jailed(user, task)

    assert kept == live
    assert [] == [
        char
        for char in kept
        if char != "\n" and (ord(char) < 32 or 127 <= ord(char) < 160 or char == "\u202e")
    ]
    assert list("abcdefghijk") == re.findall(r"[a-k]", kept)


ECHO = """
import base64, os, sys, time
value = os.environ["OWN_TOKEN"]
def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()
say("plain " + value + "\\n")
say("base64 " + base64.b64encode(value.encode()).decode() + "\\n")
say("split " + value[:12])
time.sleep(0.1)
say(value[12:] + "\\n")
sys.stderr.write("error " + value + "\\n")
sys.stderr.flush()
say("coloured " + value[:9] + "\\x1b[0m" + value[9:] + "\\n")
print("name", open("/proc/self/environ").read())
"""


@pytest.mark.parametrize("user", USERS)
def test_a_secret_that_is_echoed_is_not_shown(user: str) -> None:
    def task(jail: Jail) -> tuple[str, str]:
        heard: list[str] = []
        ran = jail.run(ECHO, hear=lambda _stream, text: heard.append(text))
        return ran.output, "".join(heard)

    kept, live = jailed(user, task)

    forms = (OWN, base64.b64encode(OWN.encode()).decode())
    assert kept == live
    assert [] == [form for form in forms if form in kept]
    assert [] == [
        how
        for how in ("plain", "base64", "split", "error", "coloured")
        if f"{how} [OWN_TOKEN]" not in kept
    ]


WAITING = """
import os, sys, time
print("begun", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("way", ["environment", "file"])
@pytest.mark.parametrize("user", USERS)
def test_no_list_of_arguments_on_the_machine_holds_a_secret_while_it_runs(
    user: str, way: str
) -> None:
    def task(jail: Jail) -> tuple[Ran, list[str], list[str]]:
        found: list[list[str]] = []

        def hear(_stream: str, _text: str) -> None:
            found.extend([alive(OWN), alive(mark)])

        mark = f"mark-{os.urandom(8).hex()}"
        return jail.run(WAITING, [mark], hear=hear, stopped=lambda: bool(found)), found[0], found[1]

    ran, telling, running = jailed(user, task, f'[run]\nsecrets = "{way}"\n')

    assert ("asked", []) == (ran.stopped, telling)
    assert running


@pytest.mark.parametrize("user", USERS)
def test_a_secret_that_is_lent_as_a_file_lies_in_a_file_of_its_own_alone(user: str) -> None:
    code = "import os\nprint(os.environ.get('OWN_TOKEN'), os.environ['OWN_TOKEN_FILE'], os.listdir('/run/secrets'), open('/run/secrets/OWN_TOKEN').read())"

    ran = jailed(user, lambda jail: jail.run(code), '[run]\nsecrets = "file"\n')

    assert (0, "None /run/secrets/OWN_TOKEN ['OWN_TOKEN'] [OWN_TOKEN]\n") == (ran.code, ran.output)
