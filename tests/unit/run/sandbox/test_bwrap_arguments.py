"""How bubblewrap is told: the rows of its command line, what is refused before it starts, and one real start."""

from __future__ import annotations

import os
import platform
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from metier.errors import SandboxError
from metier.run.io.machine import survey_machine
from metier.run.model import HOME, MIB, SCRATCH, SECRETS, Cage, GivenFile, Mount, RunLimits
from metier.run.sandbox.bwrap_arguments import (
    BwrapPipes,
    HostRoot,
    command_line,
    describe_cage,
    options,
    texts,
    variables,
)
from metier.run.sandbox.seccomp import filter_program

SYSTEM = HostRoot(
    "/usr/bin/bwrap",
    (0, 8, 0),
    False,
    frozenset({"--disable-userns"}),
    roots=(("/bin", "usr/bin"), ("/lib64", "")),
    etc=(("/etc/ld.so.cache", ""), ("/etc/resolv.conf", "")),
    masked=("/proc/keys",),
    texts=(GivenFile("/etc/services", b"http 80/tcp"),),
)
WITH_HELD = SYSTEM._replace(options=frozenset({"--bind-fd", "--ro-bind-fd"}))
TRUE = Cage(("/bin/true",))


def told(cage: Cage = TRUE, system: HostRoot = SYSTEM, *, status: int = -1) -> list[str]:
    files = tuple(range(20, 20 + len(texts(system)) + len(cage.files)))
    return options(cage, system, BwrapPipes(info=3, block=4, seccomp=5, files=files, status=status))


def holds(words: list[str], *row: str) -> bool:
    return any(tuple(words[at : at + len(row)]) == row for at in range(len(words)))


@pytest.mark.parametrize(
    "row",
    [
        (
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--unshare-net",
        ),
        ("--new-session", "--die-with-parent"),
        ("--cap-drop", "ALL"),
        ("--disable-userns", "--assert-userns-disabled"),
        ("--ro-bind", "/usr", "/usr"),
        ("--symlink", "usr/bin", "/bin"),
        ("--ro-bind", "/lib64", "/lib64"),
        ("--proc", "/proc", "--ro-bind", "/dev/null", "/proc/keys"),
        ("--perms", "0700", "--size", str(256 * MIB), "--tmpfs", SCRATCH),
        ("--perms", "0700", "--size", str(256 * MIB), "--tmpfs", HOME),
        ("--perms", "1777", "--size", str(256 * MIB), "--tmpfs", "/tmp"),
        ("--perms", "1777", "--size", str(64 * MIB), "--tmpfs", "/dev/shm"),
        ("--perms", "0444", "--file", "20", "/etc/passwd"),
        ("--perms", "0444", "--file", "24", "/etc/services"),
        ("--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/", "--chdir", SCRATCH),
        ("--seccomp", "5", "--info-fd", "3", "--block-fd", "4"),
    ],
)
def test_every_cage_has_this_row(row: tuple[str, ...]) -> None:
    words = told()

    assert holds(words, *row)


def test_the_command_line_has_the_program_and_its_arguments_as_they_are_and_nothing_of_this_machine() -> (
    None
):
    command = ("/bin/sh", "--unshare-none", "a b", "$(id)", "", "--")
    cage = Cage(
        command, (Mount("/home/ann/skills/pdf", "/skill"),), environment=(("TOKEN", "hush"),)
    )

    line = command_line(cage, SYSTEM, 9)

    assert ["/usr/bin/bwrap", "--args", "9", "--", *command] == line


@pytest.mark.parametrize(("status", "asked"), [(7, True), (-1, False)])
def test_the_exit_code_is_told_to_who_asks(status: int, asked: bool) -> None:
    words = told(status=status)

    assert asked == holds(words, "--json-status-fd", "7")


@pytest.mark.parametrize(
    ("network", "apart", "resolver"), [(False, True, False), (True, False, True)]
)
def test_the_network_and_its_resolver_come_together(
    network: bool, apart: bool, resolver: bool
) -> None:
    words = told(Cage(("/bin/true",), network=network))

    assert (apart, resolver) == ("--unshare-net" in words, "/etc/resolv.conf" in words)


def test_an_older_bubblewrap_is_not_asked_for_what_it_lacks() -> None:
    words = told(system=SYSTEM._replace(options=frozenset()))

    assert "--disable-userns" not in words


def test_mounts_come_outer_first_each_as_it_was_granted() -> None:
    mounts = (
        Mount("/a/x/y", "/a/x/y", writable=True),
        Mount("/a-b", "/a-b"),
        Mount("/a/x", "/a/x"),
        Mount("/skills/pdf", "/skill"),
    )

    words = told(Cage(("/bin/true",), mounts))

    wanted = [
        ("--ro-bind", "/a/x"),
        ("--bind", "/a/x/y"),
        ("--ro-bind", "/a-b"),
        ("--ro-bind", "/skills/pdf"),
    ]
    assert wanted == [pair for pair in pairwise(words) if pair in wanted]
    assert holds(words, "--ro-bind", "/skills/pdf", "/skill")


@pytest.mark.parametrize(
    ("writable", "row"),
    [(False, ("--ro-bind-fd", "7", "/skill")), (True, ("--bind-fd", "7", "/skill"))],
)
def test_a_source_may_be_a_descriptor_of_what_was_looked_at(
    writable: bool, row: tuple[str, ...]
) -> None:
    words = told(
        Cage(("/bin/true",), (Mount("/proc/self/fd/7", "/skill", writable=writable),)), WITH_HELD
    )

    assert holds(words, *row)


def test_a_bubblewrap_that_would_leave_a_descriptor_open_in_the_program_is_given_none() -> None:
    with pytest.raises(SandboxError) as caught:
        told(Cage(("/bin/true",), (Mount("/proc/self/fd/7", "/skill"),)), SYSTEM)

    assert "sandbox-mount" == caught.value.code


def test_files_that_are_given_are_their_owners_to_read_and_nobodys_to_change() -> None:
    cage = Cage(
        ("/bin/true",),
        files=(
            GivenFile(f"{SECRETS}/TOKEN", b"s"),
            GivenFile(f"{SCRATCH}/in", b"{}"),
            GivenFile("/skill/a.py", b""),
        ),
    )

    words = told(cage)

    assert holds(words, "--perms", "0400", "--file", "25", f"{SECRETS}/TOKEN")
    assert holds(words, "--perms", "0400", "--ro-bind-data", "26", f"{SCRATCH}/in")
    assert holds(words, "--perms", "0400", "--file", "27", "/skill/a.py")


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "",
        ".",
        "skill",
        "//skill",
        "/a/../etc",
        "/a/",
        "/a//b",
        "/a\0b",
        "/a/./b",
        "/\ud800",
        "/proc",
        "/proc/sys",
        "/dev",
        "/dev/shm",
        "/sys/fs",
        "/usr",
        "/usr/bin",
        "/usr/lib/x",
        "/bin",
        "/lib64/x",
        "/etc",
        "/etc/passwd",
        "/etc/services",
        "/etc/ssl/certs/x",
        "/etc/ssl",
        "/etc/ld.so.preload",
        "/home",
        HOME,
        SCRATCH,
        "/tmp",
        "/var",
        "/var/tmp/x",
        "/run",
        SECRETS,
        f"{SECRETS}/x",
        "/skill/x",
        "/" + "a" * 5000,
    ],
)
def test_nothing_is_mounted_over_what_the_sandbox_lays_itself_or_at_no_plain_path(
    target: str,
) -> None:
    with pytest.raises(SandboxError) as caught:
        told(Cage(("/bin/true",), (Mount("/srv/data", target),)))

    assert "sandbox-mount" == caught.value.code


@pytest.mark.parametrize(
    "target",
    [
        "/skill",
        "/opt/tool",
        f"{SCRATCH}/x",
        f"{HOME}/x",
        "/tmp/venv",
        "/usr/local/x",
        "/etc/mine",
        "/runs",
    ],
)
def test_other_places_can_be_mounted_at(target: str) -> None:
    words = told(Cage(("/bin/true",), (Mount("/srv/data", target),)))

    assert holds(words, "--ro-bind", "/srv/data", target)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "data",
        "../x",
        "/a/../b",
        "/a\0",
        "/proc",
        "/proc/1/root",
        "/proc/self/fd/x",
        "/proc/self/fd/",
        "/proc/self/fd/7/..",
        "/proc/self/fd/7/etc",
        "/proc/self/fd/²",
        "/dev/sda",
        "/sys",
    ],
)
def test_a_source_that_is_no_plain_path_is_refused(source: str) -> None:
    with pytest.raises(SandboxError) as caught:
        told(Cage(("/bin/true",), (Mount(source, "/skill"),)))

    assert "sandbox-mount" == caught.value.code


@pytest.mark.parametrize(
    ("cage", "code"),
    [
        (Cage(("/bin/true",), (Mount("/a", "/x"), Mount("/b", "/x"))), "sandbox-mount"),
        (Cage(("/bin/true",), (Mount("/a", "/x"),), (GivenFile("/x", b""),)), "sandbox-mount"),
        (Cage(("/bin/true",), (Mount("/a", "/x"),), (GivenFile("/x/y", b""),)), "sandbox-mount"),
        (Cage(("/bin/true",), files=(GivenFile("/etc/passwd", b""),)), "sandbox-mount"),
        (Cage(("/bin/true",), files=(GivenFile(f"{SECRETS}/a/b", b""),)), "sandbox-mount"),
        (Cage(()), "sandbox-command"),
        (Cage(("",)), "sandbox-command"),
        (Cage(("/bin/echo", "a\0b")), "sandbox-command"),
        (Cage(("/bin/echo", "\udfff\ud800")), "sandbox-command"),
        (Cage(("/bin/echo", *["x"] * 9000)), "sandbox-command"),
        (Cage(("/bin/true",), folder="scratch"), "sandbox-command"),
        (Cage(("/bin/true",), environment=(("A=B", "x"),)), "sandbox-variable"),
        (Cage(("/bin/true",), environment=(("", "x"),)), "sandbox-variable"),
        (Cage(("/bin/true",), environment=(("A", "x\0--bind"),)), "sandbox-variable"),
    ],
)
def test_what_no_system_can_be_told_is_refused(cage: Cage, code: str) -> None:
    with pytest.raises(SandboxError) as caught:
        told(cage)

    assert code == caught.value.code


@pytest.mark.parametrize(
    "name", ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "GLIBC_TUNABLES", "GCONV_PATH"]
)
def test_a_variable_that_acts_on_the_loader_is_read_when_bubblewrap_itself_has_started(
    name: str,
) -> None:
    cage = Cage(("/bin/true",), environment=((name, "/skill/evil.so"),))

    words = variables(cage)

    assert f"--clearenv\0--setenv\0{name}\0/skill/evil.so\0".encode() == words
    assert not any(name in word for word in (*told(cage), *command_line(cage, SYSTEM, 9)))


def test_a_wrong_number_of_descriptors_is_refused() -> None:
    with pytest.raises(SandboxError) as caught:
        options(TRUE, SYSTEM, BwrapPipes(3, 4, 5, (6,)))

    assert "sandbox-mount" == caught.value.code


NAMES = st.from_regex(r"[A-Z][A-Z0-9_]{0,12}", fullmatch=True)
PRIVATE = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20
).map("v4lue-{}".format)


@given(
    st.dictionaries(NAMES, PRIVATE, max_size=4),
    st.dictionaries(NAMES, PRIVATE, max_size=4),
    st.booleans(),
)
@settings(max_examples=50)
def test_no_value_of_a_variable_and_no_byte_of_a_file_is_ever_in_the_command_line(
    environment: dict[str, str], files: dict[str, str], network: bool
) -> None:
    cage = Cage(
        ("/bin/true",),
        (),
        tuple(GivenFile(f"{SECRETS}/{name}", value.encode()) for name, value in files.items()),
        tuple(environment.items()),
        network=network,
    )

    line = "\0".join([*command_line(cage, SYSTEM, 9), *told(cage), *describe_cage(cage)])

    assert "v4lue-" not in line


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=200)
def test_any_text_is_either_told_or_refused(source: str, target: str, word: str) -> None:
    cage = Cage(
        (word, word),
        (Mount(f"/{source}", f"/{target}"),),
        environment=((word, source),),
        folder=f"/{target}",
    )

    try:
        words = told(cage)
    except SandboxError as error:
        words = [error.code]

    assert words[0] in {"--unshare-user", "sandbox-mount", "sandbox-command", "sandbox-variable"}


def test_a_cage_is_shown_in_words_without_values() -> None:
    cage = Cage(
        ("/usr/bin/python3", "/skill/run.py", "two words"),
        (
            Mount("/home/ann/skills/pdf", "/skill"),
            Mount("/home/ann/out", "/home/ann/out", writable=True),
        ),
        (GivenFile(f"{SECRETS}/TOKEN", b"hush"), GivenFile("/skill.json", b"{}")),
        (("TOKEN_FILE", "hush"), ("HOME", HOME)),
        bounds=RunLimits(
            seconds=90,
            memory_bytes=1536 * MIB,
            processes=64,
            output_bytes=4 * MIB,
            scratch_bytes=1000,
            file_bytes=2048,
        ),
    )

    lines = describe_cage(cage)

    assert [
        "runs: /usr/bin/python3 /skill/run.py 'two words'",
        "in the folder: /scratch",
        "reads: the system's own programs and libraries (/usr)",
        "reads: /home/ann/skills/pdf, seen as /skill",
        "changes: /home/ann/out",
        "network: none",
        "variables: HOME, TOKEN_FILE",
        "secrets as files: /run/secrets/TOKEN",
        "is given the file: /skill.json",
        "time: 1 minute 30 seconds",
        "memory: 1.5 GiB",
        "processes: 64",
        "output: 4 MiB",
        "files: 1000 bytes in all in each of its folders, 2 KiB in one file",
        "lent folders: 1 GiB more in all than they hold now",
    ] == lines


def test_what_steers_a_terminal_is_made_visible_where_a_cage_is_shown() -> None:
    lines = describe_cage(
        Cage(
            ("/bin/echo", "\x1b[2J", "a\u202eb"),
            (Mount("/a\nnetwork: none", "/skill"),),
            network=True,
        )
    )

    assert "runs: /bin/echo '\\x1b[2J' 'a\\u202eb'" == lines[0]
    assert "reads: '/a\\nnetwork: none', seen as /skill" in lines
    assert "network: all that this machine reaches" in lines
    assert "changes: only folders of its own, which are gone afterwards" in lines


def held(data: bytes) -> int:
    """Give a descriptor of bytes that lie nowhere."""
    number = os.memfd_create("given")
    os.write(number, data)
    os.lseek(number, 0, os.SEEK_SET)
    return number


@pytest.mark.bubblewrap
def test_a_real_bubblewrap_takes_the_whole_command_line(tmp_path: Path) -> None:
    (tmp_path / "seen").write_text("seen\n")
    script = (
        "cat /skill/seen /run/secrets/TOKEN; echo $PLAIN; id -un; echo ok > ./mine && cat ./mine; "
        "for path in /skill/x /x /usr/x /etc/x /dev/x /proc/x; do touch $path; done 2>&1 | grep -c 'annot touch'; "
        "unshare -U true 2>/dev/null || echo no namespace; test -e /etc/shadow || echo no shadow; ls /home; ls /proc/self/fd | wc -w"
    )
    system, skill = survey_machine(), os.open(tmp_path, os.O_PATH)
    source = f"/proc/self/fd/{skill}" if "--ro-bind-fd" in system.options else str(tmp_path)
    cage = Cage(
        ("/bin/sh", "-c", script),
        (Mount(source, "/skill"),),
        (GivenFile(f"{SECRETS}/TOKEN", b"hush\n"),),
        (("PATH", "/usr/bin:/bin"), ("PLAIN", "plain")),
    )
    files = tuple(held(one.data) for one in (*texts(system), *cage.files))
    block, go = os.pipe()
    inherited = [block, *files, *([skill] if "--ro-bind-fd" in system.options else [])]
    inherited += [
        info := held(b""),
        seccomp := held(filter_program(platform.machine(), network=False)),
    ]
    words = options(cage, system, BwrapPipes(info, block, seccomp, files))
    inherited.append(
        told := held(variables(cage) + "".join(f"{word}\0" for word in words).encode())
    )
    os.write(go, b"x")

    done = subprocess.run(
        command_line(cage, system, told),
        env={},
        pass_fds=inherited,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    for number in {*inherited, skill, go}:
        os.close(number)

    assert ("", 0) == (done.stderr, done.returncode)
    assert [
        "seen",
        "hush",
        "plain",
        "skill",
        "ok",
        "6",
        "no namespace",
        "no shadow",
        "skill",
        "4",
    ] == done.stdout.split("\n")[:-1]
