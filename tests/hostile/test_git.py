"""Repositories that would have git run something, reach somebody, or write somewhere. Each attack leaves a canary when it works."""

from __future__ import annotations

import os
import socket
import stat
import struct
import subprocess
import time
import zlib
from hashlib import sha1
from pathlib import Path

import pytest
from fakes.repositories import Repository, environment, served, skill
from fakes.site import Says, Site

from metier.errors import MetierError, RefusedError, SourceError, UsageError
from metier.settings.model import SupplySettings
from metier.supply.io.git import BareRepository, GitFetcher, GitRemote
from metier.supply.model import Request
from metier.supply.safe_names import check_items
from metier.supply.sources import git_commands
from metier.supply.sources.pick import skills_in


class Trap:
    """A program that leaves a canary, and a repository to plant it in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.canary = folder, folder / "canary"
        self.program = folder / "trap.sh"
        self.program.write_text(f"#!/bin/sh\necho ran >> {self.canary}\ncat\n")
        self.program.chmod(stat.S_IRWXU)
        self.source = Repository(folder / "source")
        self.source.commit({"SKILL.md": skill("pdf")})

    def fetcher(self, limits: SupplySettings | None = None, **more: str) -> GitFetcher:
        return GitFetcher(
            str(self.folder / "cache"),
            limits or SupplySettings(),
            {**environment(self.folder), **more},
        )

    def read(self) -> dict[str, bytes]:
        tree = self.fetcher().open(Request("git", self.source.address))
        try:
            return {
                item.path: b"".join(chunks)
                for item, chunks in tree.contents(
                    [one for one in tree.items() if one.mode != "other"]
                )
            }
        finally:
            tree.close()


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path)


def test_no_hook_of_a_source_runs(trap: Trap) -> None:
    for name in (
        "post-checkout",
        "post-merge",
        "pre-auto-gc",
        "reference-transaction",
        "post-index-change",
        "fsmonitor-watchman",
        "update",
    ):
        hook = trap.source.path / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_bytes(trap.program.read_bytes())
        hook.chmod(stat.S_IRWXU)

    found = trap.read()

    assert {"SKILL.md"} == set(found)
    assert not trap.canary.exists()


@pytest.mark.parametrize(
    "key",
    [
        "core.fsmonitor",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "uploadpack.packObjectsHook",
        "core.pager",
        "core.editor",
        "core.askPass",
        "credential.helper",
        "diff.external",
        "core.gitProxy",
        "gpg.program",
        "ssh.variant",
        "alias.upload-pack",
    ],
)
def test_no_program_that_a_source_configures_runs(trap: Trap, key: str) -> None:
    trap.source.git(
        "config", key, str(trap.program) if not key.startswith("alias") else f"!{trap.program}"
    )

    found = trap.read()

    assert {"SKILL.md"} == set(found)
    assert not trap.canary.exists()


def test_configuration_that_a_source_includes_runs_nothing(trap: Trap) -> None:
    (trap.source.path / "more.cfg").write_text(
        f"[core]\n\tfsmonitor = {trap.program}\n\thooksPath = {trap.folder}\n[uploadpack]\n\tpackObjectsHook = {trap.program}\n"
    )
    trap.source.git("config", "include.path", str(trap.source.path / "more.cfg"))

    found = trap.read()

    assert {"SKILL.md"} == set(found)
    assert not trap.canary.exists()


def test_no_filter_touches_the_bytes(trap: Trap) -> None:
    trap.source.commit(
        {".gitattributes": "* filter=evil text eol=crlf ident\n", "a.txt": "one $Id$\ntwo\n"}
    )
    for which in ("smudge", "clean", "process"):
        trap.source.git("config", f"filter.evil.{which}", str(trap.program))

    found = trap.read()

    assert b"one $Id$\ntwo\n" == found["a.txt"]
    assert not trap.canary.exists()


def test_a_submodule_is_left_out_and_never_asked_for(trap: Trap) -> None:
    commit = trap.source.git("rev-parse", "HEAD")
    trap.source.git("update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/lib")
    trap.source.commit(
        {
            ".gitmodules": f'[submodule "x"]\n\tpath = vendor/lib\n\turl = ext::sh -c {trap.program}\n\tupdate = !{trap.program}\n'
        }
    )
    trap.source.git("update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/lib")
    trap.source.git("commit", "-q", "-m", "with a submodule")

    with pytest.raises(RefusedError) as caught:
        trap.read()

    assert (
        "malformed" == caught.value.code
    )  # git itself refuses a submodule whose address is a command
    assert not trap.canary.exists()


def test_an_honest_submodule_is_left_out_with_a_note(trap: Trap) -> None:
    commit = trap.source.git("rev-parse", "HEAD")
    trap.source.git("update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/lib")
    trap.source.git("commit", "-q", "-m", "with a submodule")
    tree = trap.fetcher().open(Request("git", trap.source.address))

    found = skills_in(
        tree.items(),
        lambda items: {item.path: b"".join(chunks) for item, chunks in tree.contents(items)},
    )

    assert ("vendor/lib", 0, "other") in {item[:3] for item in tree.items()}
    assert ["SKILL.md"] == [item.path for item in found.skills[0].items]
    assert ("the submodule vendor/lib is left out",) == found.problems
    tree.close()


def test_a_source_that_lacks_objects_does_not_have_them_fetched(trap: Trap) -> None:
    blob = trap.source.git("rev-parse", "HEAD:SKILL.md")
    for key, value in (
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", str(trap.folder)),
        ("remote.origin.uploadpack", str(trap.program)),
        ("core.repositoryFormatVersion", "1"),
    ):
        trap.source.git("config", key, value)
    (trap.source.path / ".git/objects" / blob[:2] / blob[2:]).unlink()

    with pytest.raises(MetierError):
        trap.read()

    assert not trap.canary.exists()


def test_alternates_of_a_source_are_its_own_business(trap: Trap) -> None:
    secret = Repository(trap.folder / "secret")
    secret.commit({"key.pem": "secret\n"})
    info = trap.source.path / ".git/objects/info/alternates"
    info.parent.mkdir(exist_ok=True)
    info.write_text(f"{secret.path}/.git/objects\n")

    found = trap.read()

    assert {"SKILL.md"} == set(found)
    assert [] == list((trap.folder / "cache").rglob("alternates"))


def test_objects_that_a_source_replaces_are_not_replaced_here(trap: Trap) -> None:
    good, evil = trap.source.git("rev-parse", "HEAD:SKILL.md"), trap.source.blob(b"evil\n")
    trap.source.git("replace", good, evil)

    found = trap.read()

    assert skill("pdf").encode() == found["SKILL.md"]


@pytest.mark.parametrize(
    "ref",
    [
        "--upload-pack=touch canary",
        "-u",
        "--output=x",
        "main;touch x",
        "a..b",
        "@{-1}",
        "x\n--upload-pack=y",
        "a b",
        "+main:refs/heads/x",
        "^main",
        "x.lock",
    ],
)
def test_a_ref_is_never_an_option_or_a_rule(trap: Trap, ref: str) -> None:
    with pytest.raises(UsageError) as caught:
        trap.fetcher().open(Request("git", trap.source.address, ref))

    assert "unsafe-ref" == caught.value.code
    assert not trap.canary.exists()


@pytest.mark.parametrize(
    "location",
    [
        "--upload-pack=x",
        "ext::sh -c touch% canary",
        "fd::17",
        "ssh://-oProxyCommand=touch/x",
        "git://host/x",
        "ftp://host/x",
        "git@-oProxyCommand=x:y",
    ],
)
def test_a_location_is_never_an_option_or_another_transport(trap: Trap, location: str) -> None:
    with pytest.raises(MetierError) as caught:
        trap.fetcher(SupplySettings(private_hosts=("host",), seconds=5)).open(
            Request("git", location)
        )

    assert caught.value.code in {"unsafe-option", "unsafe-transport", "malformed", "host"}
    assert not trap.canary.exists()


@pytest.mark.parametrize("path", ["-rf", "../x", "/etc", "a\\..\\b"])
def test_a_path_stays_inside(trap: Trap, path: str) -> None:
    with pytest.raises(UsageError) as caught:
        trap.fetcher().open(Request("git", trap.source.address, "", path))

    assert "unsafe-path" == caught.value.code


def test_a_path_is_no_pattern_either(trap: Trap) -> None:
    tree = trap.fetcher().open(Request("git", trap.source.address, "", ":(glob)**"))

    assert () == tuple(tree.items())
    tree.close()


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        ".git",
        ".GIT",
        ".gIt",
        "git~1",
        ".git\u200c",
        "a\\b",
        "..\\x",
        "C:x",
        "con",
        "x\ny",
        "x.",
        "x ",
        "\udcff",
    ],
)
def test_an_entry_whose_name_is_a_way_out_is_refused_by_git_or_by_us(trap: Trap, name: str) -> None:
    blob = trap.source.blob(b"evil\n")
    inner = trap.source.tree(
        ("100644", trap.source.blob(skill("pdf").encode()), "SKILL.md"),
        ("40000", trap.source.tree(("100644", blob, "config")), name),
    )
    trap.source.commit_tree(trap.source.tree(("40000", inner, "pdf")))

    with pytest.raises(RefusedError) as caught:
        check_items(
            skills_in(
                trap.fetcher().open(Request("git", trap.source.address)).items(), lambda _items: {}
            )
            .skills[0]
            .items,
            SupplySettings(),
        )

    assert caught.value.code in {"unsafe-path", "malformed"}


def test_two_entries_of_one_name_are_refused(trap: Trap) -> None:
    one, two = trap.source.blob(b"one\n"), trap.source.blob(b"two\n")
    trap.source.commit_tree(
        trap.source.tree(("100644", one, "SKILL.md"), ("100644", two, "SKILL.md"))
    )

    with pytest.raises(RefusedError) as caught:
        trap.read()

    assert "malformed" == caught.value.code


def test_a_path_of_many_thousand_letters_is_refused(trap: Trap) -> None:
    inner = trap.source.tree(("100644", trap.source.blob(b"x"), "SKILL.md"))
    for _level in range(60):
        inner = trap.source.tree(("40000", inner, "d" * 200))
    trap.source.commit_tree(inner)

    with pytest.raises(RefusedError) as caught:
        trap.read()

    assert "unsafe-path" == caught.value.code


def test_a_branch_with_the_name_of_an_option_harms_nobody(trap: Trap) -> None:
    trap.source.git("update-ref", "refs/heads/--upload-pack=touch", "HEAD")

    found = trap.read()

    assert {"SKILL.md"} == set(found)


def test_what_this_process_has_in_its_environment_is_not_handed_to_git(trap: Trap) -> None:
    more = {
        "GIT_DIR": "/nowhere",
        "GIT_EXEC_PATH": str(trap.folder),
        "GIT_EXTERNAL_DIFF": str(trap.program),
        "GIT_TRACE": str(trap.canary),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.sshCommand",
        "GIT_CONFIG_VALUE_0": str(trap.program),
        "GIT_ASKPASS": str(trap.program),
        "SSH_ASKPASS": str(trap.program),
        "GIT_TEMPLATE_DIR": str(trap.folder),
    }

    tree = trap.fetcher(None, **more).open(Request("git", trap.source.address))

    assert 1 == len(tree.items())
    assert not trap.canary.exists()
    tree.close()


# --- whom git talks to


@pytest.mark.parametrize(
    "address", ["10.0.0.7", "127.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:192.168.0.1"]
)
@pytest.mark.parametrize(
    "location",
    ["https://git.example/x.git", "ssh://git@git.example/x.git", "git@git.example:x.git"],
)
def test_a_host_with_a_private_address_is_not_asked(
    trap: Trap, address: str, location: str
) -> None:
    fetcher = GitFetcher(
        str(trap.folder / "cache"),
        SupplySettings(),
        environment(trap.folder),
        lookup=lambda _host, _port: ("93.184.216.34", address),
    )

    with pytest.raises(RefusedError) as caught:
        fetcher.open(Request("git", location))

    assert "private-address" == caught.value.code


def test_a_host_that_the_settings_do_not_list_is_not_asked(trap: Trap) -> None:
    fetcher = GitFetcher(
        str(trap.folder / "cache"),
        SupplySettings(hosts=("github.com",)),
        environment(trap.folder),
        lookup=lambda _host, _port: ("93.184.216.34",),
    )

    with pytest.raises(RefusedError) as caught:
        fetcher.open(Request("git", "https://other.example/x.git"))

    assert "host" == caught.value.code


def test_plain_http_is_only_for_hosts_of_ones_own(trap: Trap) -> None:
    with pytest.raises(RefusedError) as caught:
        trap.fetcher().open(Request("git", "http://93.184.216.34/x.git"))

    assert "host" == caught.value.code


@pytest.mark.loopback
@pytest.mark.parametrize(
    "aim",
    [
        "http://127.0.0.1:1/x",
        "file:///etc",
        "https://10.0.0.1/x.git",
        "http://[::1]:1/x",
        "ext::sh",
    ],
)
def test_a_redirection_out_of_the_rules_is_refused(trap: Trap, aim: str) -> None:
    with served(trap.folder) as server:
        server.moved["/source"] = aim

        with pytest.raises(MetierError) as caught:
            trap.fetcher(SupplySettings(private_hosts=(server.place,))).open(
                Request("git", server.address("source/.git"))
            )

    assert caught.value.code in {"redirect", "private-address", "malformed", "host"}


@pytest.mark.loopback
def test_a_redirection_without_end_is_refused(trap: Trap) -> None:
    with served(trap.folder) as server:
        server.moved["/source"] = f"http://{server.place}/source"

        with pytest.raises(RefusedError) as caught:
            trap.fetcher(SupplySettings(private_hosts=(server.place,))).open(
                Request("git", server.address("source/.git"))
            )

    assert "redirect" == caught.value.code


@pytest.mark.loopback
def test_a_server_that_never_answers_is_left_and_no_process_stays(trap: Trap) -> None:
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before = children.read_text()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = f"127.0.0.1:{listener.getsockname()[1]}"

        with pytest.raises(SourceError) as caught:
            trap.fetcher(SupplySettings(private_hosts=(place,), seconds=1)).open(
                Request("git", f"http://{place}/x.git")
            )

    assert "timeout" == caught.value.code
    assert before == children.read_text()


@pytest.mark.loopback
@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n\x1b[2Jhello",
        b"garbage\x00\xff\r\n\r\n",
        b"",
        b"HTTP/1.1 500 \x1b[31m\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_a_server_that_talks_nonsense_is_an_error_without_its_escapes(
    trap: Trap, said: bytes
) -> None:
    import threading

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            for _turn in range(4):
                try:
                    one, _where = listener.accept()
                except OSError:
                    return
                with one:
                    one.settimeout(2)
                    one.recv(65536)
                    one.sendall(said)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        place = f"127.0.0.1:{listener.getsockname()[1]}"

        with pytest.raises(MetierError) as caught:
            trap.fetcher(SupplySettings(private_hosts=(place,), seconds=10)).open(
                Request("git", f"http://{place}/x.git")
            )

    assert "\x1b" not in caught.value.message


# --- what unfolds


def test_folders_in_folders_without_a_file_are_given_up_when_the_time_is_over(trap: Trap) -> None:
    inner = trap.source.tree()
    for _level in range(9):
        inner = trap.source.tree(*(("40000", inner, f"d{at}") for at in range(10)))
    trap.source.commit_tree(inner)

    with pytest.raises(SourceError) as caught:
        trap.fetcher(SupplySettings(seconds=3)).open(Request("git", trap.source.address))

    assert "timeout" == caught.value.code


def test_a_pack_of_a_few_bytes_that_unfolds_to_more_than_memory_is_a_bomb(trap: Trap) -> None:
    base = b"A" * 1000
    copies = 300_000
    delta = (
        sized(len(base)) + sized(copies * len(base)) + b"\xb0\xe8\x03" * copies
    )  # 1,000 bytes from the first one on, each time
    body = b"PACK" + struct.pack(">II", 2, 2) + head(3, len(base)) + zlib.compress(base)
    body += head(7, len(delta)) + hashed(b"blob 1000\0" + base) + zlib.compress(delta)
    words = [*git_commands.command(str(trap.source.path / ".git"), ()), "index-pack", "--stdin"]

    ended = subprocess.run(
        words,
        input=body + hashed(body),
        env=git_commands.environment(environment(trap.folder), ()),
        capture_output=True,
        check=False,
    )

    assert len(body) < 10_000
    assert "bomb" == git_commands.git_error(ended.stderr, "x").code


def hashed(data: bytes) -> bytes:
    """Hash bytes as git does."""
    return sha1(data, usedforsecurity=False).digest()


def sized(number: int) -> bytes:
    """Write a number as a delta has it: seven bits at a time, the lowest first."""
    return bytes([number & 127 | 128]) + sized(number >> 7) if number > 127 else bytes([number])


def head(kind: int, size: int) -> bytes:
    """Write what stands before an object in a pack."""
    return (
        bytes([kind << 4 | size & 15 | 128]) + sized(size >> 4)
        if size > 15
        else bytes([kind << 4 | size])
    )


def test_a_source_that_lacks_objects_reaches_nobody_even_where_git_does_not_know_how_to_be_told(
    trap: Trap,
) -> None:
    blob = trap.source.git("rev-parse", "HEAD:SKILL.md")
    for key, value in (
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"file://{trap.folder}"),
        ("remote.origin.uploadpack", str(trap.program)),
        ("core.repositoryFormatVersion", "1"),
    ):
        trap.source.git("config", key, value)
    (trap.source.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    remote = GitRemote(
        trap.source.address,
        environment(trap.folder),
        SupplySettings(),
        time.monotonic() + 60,
        ("file",),
    )
    remote.env["GIT_NO_LAZY_FETCH"] = "0"  # as if git were older than that word
    bare = BareRepository(
        str(trap.folder / "bare.git"), environment(trap.folder), time.monotonic() + 60
    )
    bare.make()

    with pytest.raises(MetierError):
        remote.fetch_tip(bare, remote.tip(""))

    assert not trap.canary.exists()


@pytest.mark.parametrize(
    "location",
    [f"https://{'a' * 70}.example/x.git", "https://a..b/x.git", f"ssh://git@{'a' * 70}/x.git"],
)
def test_a_host_that_no_name_can_be_is_not_found(trap: Trap, location: str) -> None:
    fetcher = GitFetcher(
        str(trap.folder / "cache"),
        SupplySettings(),
        environment(trap.folder),
        lookup=lambda host, _port: (host.encode("idna").decode(),),
    )

    with pytest.raises(SourceError) as caught:
        fetcher.open(Request("git", location))

    assert "not-found" == caught.value.code


@pytest.mark.loopback
def test_git_calls_the_address_that_was_checked_whatever_the_name_leads_to(trap: Trap) -> None:
    with served(trap.folder) as server:
        port = server.place.partition(":")[2]
        pinned = git_commands.pin_host("git.example", port, ["127.0.0.1"])
        remote = GitRemote(
            f"http://git.example:{port}/source/.git",
            environment(trap.folder),
            SupplySettings(),
            time.monotonic() + 60,
            ("http",),
            (pinned,),
        )

        found = remote.tip("main")

    assert trap.source.git("rev-parse", "HEAD") == found.commit


@pytest.mark.loopback
def test_git_itself_follows_no_redirection(trap: Trap) -> None:
    with served(trap.folder) as server:
        server.moved["/old"] = f"http://{server.place}/source/.git"
        remote = GitRemote(
            f"http://{server.place}/old",
            environment(trap.folder),
            SupplySettings(),
            time.monotonic() + 60,
            ("http",),
        )

        with pytest.raises(RefusedError) as caught:
            remote.tip("main")

        assert ("redirect", 1) == (caught.value.code, len(server.asked))


@pytest.mark.loopback
def test_a_server_that_stops_in_the_middle_of_an_answer_is_left_when_the_time_is_over(
    trap: Trap,
) -> None:
    half = Says(
        b"001e# service=git-upload-pack\n",
        headers={"Content-Type": "application/x-git-upload-pack-advertisement"},
        drip=True,
    )
    with Site({"/x/info/refs": half}) as site, pytest.raises(SourceError) as caught:
        trap.fetcher(site.limits(seconds=2)).open(Request("git", f"{site.url}/x"))

    assert "timeout" == caught.value.code


@pytest.mark.parametrize("aim", ["ext::sh -c {}% ", "file://{}/"])
def test_the_user_s_own_rewriting_of_addresses_leads_to_no_other_kind_of_transport(
    trap: Trap, aim: str
) -> None:
    (trap.folder / "gitconfig").write_text(
        f'[url "{aim.format(trap.program)}"]\n\tinsteadOf = https://git.example/\n'
    )
    fetcher = GitFetcher(
        str(trap.folder / "cache"),
        SupplySettings(),
        environment(trap.folder),
        lookup=lambda _host, _port: ("93.184.216.34",),
    )

    with pytest.raises(RefusedError) as caught:
        fetcher.open(Request("git", "https://git.example/x.git"))

    assert "unsafe-transport" == caught.value.code
    assert not trap.canary.exists()


def test_a_repository_that_lies_around_this_process_has_no_say() -> None:
    assert "--git-dir=/dev/null" == git_commands.command("", ("https",))[1]


def test_hosts_are_the_same_in_capitals(trap: Trap) -> None:
    fetcher = GitFetcher(
        str(trap.folder / "cache"),
        SupplySettings(hosts=("Git.Example",)),
        environment(trap.folder),
        lookup=lambda _host, _port: ("10.0.0.1",),
    )

    with pytest.raises(RefusedError) as caught:
        fetcher.open(Request("git", "https://git.EXAMPLE/x.git"))

    assert "private-address" == caught.value.code
