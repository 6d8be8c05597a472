"""One hostile script, in the real sandbox, as root and as an ordinary user: all that it tries, and what each attempt got."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from fakes import attempts_files, attempts_kernel, attempts_network  # noqa: F401 - they say what they try
from fakes.attempts import GROUPS
from fakes.jail import CANARY, CANARY_NAME, KEY, OTHER, OWN, USERS, Jail, Lent, jailed

from metier.run.io import landlock

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.bubblewrap, pytest.mark.python3, pytest.mark.loopback]

MODULES = ("attempts", "attempts_files", "attempts_kernel", "attempts_network")
MAIN = f"from fakes import {', '.join(MODULES)}\nattempts.main()\n"
PLAIN, LENT, ONLINE, NAMED = "plain", "lent", "online", "named"


class Outside:
    """What listens on this machine, and counts who comes."""

    def __init__(self) -> None:
        """Listen on TCP, UDP and two abstract names."""
        self.abstract = f"metier-{os.urandom(8).hex()}"
        self.tcp, self.udp = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
        self.stream, self.datagram = (
            socket.socket(socket.AF_UNIX),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
        )
        self.tcp.bind(("0.0.0.0", 0))  # noqa: S104 - the script tries this machine's own address as well
        self.udp.bind(("127.0.0.1", 0))
        self.stream.bind(f"\0{self.abstract}")
        self.datagram.bind(f"\0{self.abstract}-datagram")
        for one in self.sockets:
            one.setblocking(False)
        self.tcp.listen()
        self.stream.listen()

    @property
    def sockets(self) -> tuple[socket.socket, ...]:
        """All of them."""
        return self.tcp, self.udp, self.stream, self.datagram

    def came(self) -> dict[str, int]:
        """Count those who came since this was last asked."""
        return {
            "tcp": comers(self.tcp),
            "udp": comers(self.udp),
            "abstract": comers(self.stream),
            "datagram": comers(self.datagram),
        }


def comers(listener: socket.socket) -> int:
    """Count the connections or messages that wait at a socket."""
    found = 0
    while True:
        try:
            if listener.type != socket.SOCK_DGRAM:
                listener.accept()[0].close()
            else:
                listener.recv(64)
        except BlockingIOError:
            return found
        found += 1


def listener(path: str) -> socket.socket:
    """Listen at a place on the disk, for connections or for messages."""
    kinds = {"datagram": socket.SOCK_DGRAM, "packets": socket.SOCK_SEQPACKET}
    made = socket.socket(socket.AF_UNIX, kinds.get(os.path.basename(path), socket.SOCK_STREAM))
    made.bind(path)
    made.setblocking(False)
    if made.type != socket.SOCK_DGRAM:
        made.listen()
    return made


class Escape(NamedTuple):
    """A run of the hostile script, and what was seen of it from outside."""

    answers: dict[str, dict[str, dict[str, Any]]]
    text: str
    """All that it printed."""
    outside: dict[str, int]
    named: int
    """How many came to the sockets that have a place on the disk."""
    victim: bool
    """Whether the process that it tried to end is still there."""
    left: dict[str, str]
    """What lies in the folders that it was lent."""


def own_address() -> str:
    """Give an address of this machine that is not the loopback's, where it has one."""
    found = re.findall(r"\|-- ([0-9.]+)\n\s+/32 host LOCAL", Path("/proc/net/fib_trie").read_text())
    return next((one for one in found if not one.startswith("127.")), "127.0.0.2")


def escaped(jail: Jail, outside: Outside, kind: str) -> Escape:
    """Plant, run, and look what came of it."""
    read, write = f"{jail.folder}/lent/read", f"{jail.folder}/lent/write"
    jail.write(f"{read}/note", "lent")
    jail.write(f"{jail.folder}/lent/mark", CANARY)
    os.makedirs(write)
    os.symlink(f"{jail.home}/.ssh/id_ed25519", f"{read}/way-out")
    aims = {
        "key": f"{jail.home}/.ssh/id_ed25519",
        "ssh": f"{jail.home}/.ssh",
        "up": "../" * 12 + jail.home.lstrip("/"),
        "root": "/",
        "shadow": "/etc/shadow",
        "data": jail.data,
        "process": "/proc/1/root",
    }
    os.makedirs(f"{jail.skill}/links")
    os.makedirs(f"{jail.skill}/lib/fakes")
    if kind == PLAIN:
        for name, aim in aims.items():
            os.symlink(aim, f"{jail.skill}/links/{name}")
    for name in MODULES:
        shutil.copy(
            Path(__file__).parent.parent / "fakes" / f"{name}.py",
            f"{jail.skill}/lib/fakes/{name}.py",
        )
    asked = {
        "groups": {
            PLAIN: ["read", "write", "network", "abroad", "kernel"],
            LENT: ["lent", "pairs"],
            ONLINE: ["network"],
            NAMED: ["pairs"],
        }[kind],
        "key": aims["key"],
        "home": jail.home,
        "data": jail.data,
        "vault": f"{jail.data}/secrets",
        "config": jail.config,
        "other": f"{jail.home}/.agents/skills/other/SKILL.md",
        "mark": f"{jail.folder}/lent/mark",
        "tcp": outside.tcp.getsockname()[1],
        "udp": outside.udp.getsockname()[1],
        "address": own_address(),
        "abstract": outside.abstract,
        "named": f"{jail.folder}/socket",
        "read": read,
        "write": write,
        "planted": [one.encode().hex() for one in (KEY, OTHER, CANARY)],
    }
    network = kind in {ONLINE, NAMED}
    with ExitStack() as listening:
        places = (
            f"{jail.folder}/socket",
            f"{write}/socket",
            f"{write}/packets",
            f"{write}/datagram",
            f"{read}/datagram",
        )
        named = [listening.enter_context(listener(path)) for path in places]
        with subprocess.Popen(["/bin/sleep", "600"]) as victim:
            try:
                ran = jail.run(
                    MAIN,
                    [json.dumps({**asked, "victim": victim.pid})],
                    Lent(network, (read,), (write,)) if kind in {LENT, NAMED} else Lent(network),
                )
                alive = victim.poll() is None
            finally:
                victim.kill()
        came = sum(map(comers, named))
    assert 0 == ran.code, ran
    lying = {
        path: Path(path).read_text()
        for path in (f"{read}/note", f"{write}/made")
        if os.path.exists(path)
    }
    planted = [
        os.path.join(top, name)
        for top, _folders, files in os.walk(jail.folder)
        for name in files
        if name == "planted"
    ]
    return Escape(
        json.loads(ran.output),
        ran.output,
        outside.came(),
        came,
        alive,
        {**lying, **dict.fromkeys(planted, "")},
    )


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    """Listen on this machine, with a variable in metier's own environment that nobody inside must see."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CANARY_NAME, CANARY)
        listening = Outside()
        yield listening
        for one in listening.sockets:
            one.close()


@pytest.fixture(scope="module", params=USERS)
def plain(request: pytest.FixtureRequest, outside: Outside) -> Escape:
    """Run everything once with nothing granted."""
    return jailed(request.param, lambda jail: escaped(jail, outside, PLAIN))


@pytest.fixture(scope="module", params=USERS)
def lent(request: pytest.FixtureRequest, outside: Outside) -> Escape:
    """Run what concerns folders that were lent, one to read and one to change."""
    return jailed(request.param, lambda jail: escaped(jail, outside, LENT))


@pytest.fixture(scope="module", params=USERS)
def online(request: pytest.FixtureRequest, outside: Outside) -> Escape:
    """Run what concerns the network with the network granted."""
    return jailed(request.param, lambda jail: escaped(jail, outside, ONLINE))


@pytest.fixture(scope="module", params=USERS)
def named(request: pytest.FixtureRequest, outside: Outside) -> Escape:
    """Run what concerns names of sockets with all granted that could lead to one, on a machine that has no Landlock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(landlock, "landlock_version", lambda: 0)
        return jailed(request.param, lambda jail: escaped(jail, outside, NAMED))


ABSENT, SHUT, DENIED = {"ENOENT"}, {"EROFS", "EACCES", "ENOENT", "EPERM"}, {"EPERM"}
UNKNOWN, NO_FAMILY = {"ENOSYS"}, {"EAFNOSUPPORT"}
ALONE = {"ECONNREFUSED", "EACCES", "ENETUNREACH", "EPERM", "EAFNOSUPPORT"}
"""What a connection ends with where nobody is: by the namespace, and on newer systems already by Landlock."""
ANSWERED = {
    "read": {
        "the_root",
        "environments_of_all_processes",
        "processes",
        "descriptors",
        "descriptors_of_the_first_process",
        "how_the_first_process_was_started",
        "anything_planted_anywhere",
        "links_in_the_skill",
        "the_kernel_s_word_on_this_process",
    },
    "write": {"scratch, which is allowed"},
    "network": {"udp", "interfaces"},
    "abroad": set(),
    "kernel": {"a_call_by_the_old_door", "signal_everybody"},
}
"""Attempts that get an answer, which a test of its own looks at. Every other one is refused."""
REFUSED: dict[str, dict[str, set[str]]] = {
    "read": {"": SHUT, **{f"planted {one}": ABSENT for one in ("key", "home", "data", "vault", "config", "other", "mark")},
             **dict.fromkeys(("/etc/shadow", "/etc/sudoers", "/root", "/sys", "/dev/mem", "/dev/kmsg", "/boot"), ABSENT)},
    "write": {"": SHUT},
    "network": {"": ALONE, **dict.fromkeys(("netlink", "netlink_for_what_is_encrypted", "packets", "the_host_of_a_virtual_machine"), NO_FAMILY),
                **{name: ABSENT for name in GROUPS["network"] if name.startswith("/")}, "a_socket_beside_the_home": ABSENT, "raw": DENIED},
    "abroad": {"": ALONE, "a_name": {"gaierror"}},
    "kernel": {"": DENIED, "setuid": {"EPERM", "EINVAL"}, "signal_a_process_outside": {"ESRCH", "EPERM"}, "a_terminal": {"ENXIO", "ENOENT"},
               "run_what_has_the_set_user_bit": ABSENT,
               **dict.fromkeys(("clone3: user", "memfd_create", "shmget", "vmsplice", "io_setup", "a call that is newer than the filter",
                                "getpid by the numbers of x32"), UNKNOWN)},
}  # fmt: skip
"""With which errors; under no name, those of a whole group."""
ROWS = [(group, name) for group in REFUSED for name in GROUPS[group] if name not in ANSWERED[group]]


@pytest.mark.parametrize(("group", "name"), ROWS)
def test_an_attempt_is_refused(plain: Escape, group: str, name: str) -> None:
    answer = plain.answers[group][name]

    assert ["error"] == list(answer), answer
    assert answer["error"] in REFUSED[group].get(name, REFUSED[group][""])


def test_every_attempt_was_made(plain: Escape) -> None:
    made = {group: set(answers) for group, answers in plain.answers.items()}

    assert {group: set(GROUPS[group]) for group in REFUSED} == made
    assert {} == {
        name: answer
        for answers in plain.answers.values()
        for name, answer in answers.items()
        if "failed" in answer
    }


def test_nothing_that_is_planted_outside_can_be_read_anywhere(plain: Escape) -> None:
    search = plain.answers["read"]["anything_planted_anywhere"]["got"]

    assert {"looked": True, "found": []} == search
    assert [] == [one for one in (KEY, OTHER, CANARY, CANARY_NAME) if one in plain.text]


def test_its_own_secret_is_there_and_is_never_shown(plain: Escape) -> None:
    environments = plain.answers["read"]["environments_of_all_processes"]["got"]

    assert any("OWN_TOKEN=[OWN_TOKEN]" in one.get("got", "") for one in environments.values())
    assert OWN not in plain.text


def test_the_first_process_inside_has_no_environment_at_all(plain: Escape) -> None:
    environments = plain.answers["read"]["environments_of_all_processes"]["got"]

    assert environments["1"] in ({"got": ""}, {"error": "EACCES"})


def test_only_its_own_processes_are_there(plain: Escape) -> None:
    processes = plain.answers["read"]["processes"]["got"]

    assert ["bwrap", "python3"] == [
        re.sub(r"^python3.*", "python3", name) for name in processes.values()
    ]


def test_the_first_process_inside_was_told_nothing_in_its_arguments(plain: Escape) -> None:
    words = plain.answers["read"]["how_the_first_process_was_started"]["got"]

    told = words.pop(2)
    assert (True, "bwrap", "--args", "--") == (
        told.isdigit(),
        os.path.basename(words[0]),
        *words[1:3],
    )


def test_only_the_three_pipes_are_open(plain: Escape) -> None:
    own, first = (
        plain.answers["read"][name]["got"]
        for name in ("descriptors", "descriptors_of_the_first_process")
    )

    assert ["0", "1", "2"] == sorted(own)
    assert all(aim.startswith("pipe:") for aim in own.values())
    assert all(aim.startswith(("pipe:", "anon_inode:[eventfd]")) for aim in first)


def test_the_root_holds_the_system_s_programs_and_its_own_folders_alone(plain: Escape) -> None:
    known = {
        "bin",
        "dev",
        "etc",
        "home",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "proc",
        "run",
        "sbin",
        "scratch",
        "skill",
        "tmp",
        "usr",
        "var",
    }

    assert set() == set(plain.answers["read"]["the_root"]["got"]) - known


def test_links_that_lie_in_a_skill_lead_nowhere_outside(plain: Escape) -> None:
    links = plain.answers["read"]["links_in_the_skill"]["got"]
    inside = plain.answers["read"]["the_root"]["got"]

    assert {name: {"error": "ENOENT"} for name in ("data", "key", "shadow", "ssh", "up")} == {
        name: links[name] for name in ("data", "key", "shadow", "ssh", "up")
    }
    assert [inside, inside] == [
        sorted(links[name].get("got", inside)) for name in ("root", "process")
    ]


def test_the_kernel_says_that_nothing_can_be_gained(plain: Escape) -> None:
    nothing = "0" * 16

    assert {
        "NoNewPrivs": "1",
        "Seccomp": "2",
        "CapEff": nothing,
        "CapPrm": nothing,
        "CapBnd": nothing,
        "CapAmb": nothing,
        "CapInh": nothing,
        "Uid": "1000\t1000\t1000\t1000",
    } == plain.answers["read"]["the_kernel_s_word_on_this_process"]["got"]


def test_its_own_folders_can_be_written_to(plain: Escape) -> None:
    assert [7, 7, 7, 7] == plain.answers["write"]["scratch, which is allowed"]["got"]


def test_nobody_outside_is_reached_by_any_connection(plain: Escape) -> None:
    assert ({"tcp": 0, "udp": 0, "abstract": 0, "datagram": 0}, 0) == (plain.outside, plain.named)
    assert ["lo"] == plain.answers["network"]["interfaces"]["got"]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="only one kind of machine has that door")
def test_a_call_by_the_old_door_is_the_end_of_who_makes_it(plain: Escape) -> None:
    assert signal.SIGSYS == plain.answers["kernel"]["a_call_by_the_old_door"]["got"]


def test_a_signal_to_everybody_reaches_its_own_processes_alone(plain: Escape) -> None:
    assert signal.SIGKILL == plain.answers["kernel"]["signal_everybody"]["got"]
    assert plain.victim


LENT_ROWS = {
    "read_what_was_lent": {"got": "lent"},
    "write_to_what_was_lent_to_read": {"error": "EROFS"},
    "change_what_was_lent_to_read": {"error": "EROFS"},
    "write_to_what_was_lent_to_change": {"got": 7},
    "follow_a_link_out_of_what_was_lent": {"error": "ENOENT"},
    "climb_out_of_what_was_lent": {"got": ["lent"]},
    "the_socket_in_what_was_lent": {"error": "EAFNOSUPPORT"},
    "a_program_that_runs_as_its_owner": {"error": "EPERM"},
    "a_device_in_what_was_lent": {"error": "EPERM"},
}


def test_a_folder_that_was_lent_is_that_folder_and_no_more(lent: Escape) -> None:
    assert LENT_ROWS == lent.answers["lent"]
    assert ["lent", "planted"] == list(lent.left.values())
    assert 0 == lent.named


def test_with_the_network_granted_the_same_attempts_arrive(online: Escape) -> None:
    assert [{"got": "connected"}] * 2 == [
        online.answers["network"][name] for name in ("tcp", "tcp_to_this_machine_s_own_address")
    ]
    assert (2, 1) == (online.outside["tcp"], online.outside["udp"])


def test_with_the_network_granted_no_abstract_name_is_reached_all_the_same(online: Escape) -> None:
    tried = [
        online.answers["network"][name] for name in ("an_abstract_socket", "an_abstract_datagram")
    ]

    assert all(answer.get("error") in {"EPERM", "EAFNOSUPPORT"} for answer in tried)
    assert (0, 0, 0) == (online.outside["abstract"], online.outside["datagram"], online.named)
    assert [{"error": "EPERM"}] * 2 + [{"error": "EAFNOSUPPORT"}] * 2 == [
        online.answers["network"][name]
        for name in (
            "raw",
            "netlink_for_what_is_encrypted",
            "packets",
            "the_host_of_a_virtual_machine",
        )
    ]


PAIR_ROWS = {
    **{
        name: {"error": "EISCONN" if name.startswith("connect one") else "EPERM"}
        for name in GROUPS["pairs"]
    },
    "what pairs are for": {"got": "kept"},
}
"""A pair that is connected stays so; one that could turn to others is not made."""


def test_no_pair_of_sockets_leads_to_a_name_in_a_folder_that_was_lent(lent: Escape) -> None:
    assert PAIR_ROWS == lent.answers["pairs"]
    assert (0, 0) == (lent.named, lent.outside["datagram"])


def test_no_pair_of_sockets_leads_to_any_name_where_nothing_but_the_filter_is_in_the_way(
    named: Escape,
) -> None:
    assert PAIR_ROWS == named.answers["pairs"]
    assert (0, 0, 0) == (named.named, named.outside["abstract"], named.outside["datagram"])
