"""What git is told and what it answers, taken apart."""

from __future__ import annotations

import pytest

from metier.errors import MetierError, RefusedError, SourceError
from metier.supply.model import Item
from metier.supply.sources import git_commands
from metier.supply.sources.git_commands import RefTip

HASH, OTHER = "a" * 40, "b" * 40


def line(mode: str, kind: str, size: str, path: bytes) -> bytes:
    return f"{mode} {kind} {HASH} {size:>7}\t".encode() + path + b"\0"


@pytest.mark.parametrize(
    ("raw", "item"),
    [
        (line("100644", "blob", "12", b"a/b.txt"), Item("a/b.txt", 12, "file", HASH)),
        (line("100755", "blob", "0", b"run"), Item("run", 0, "exec", HASH)),
        (line("120000", "blob", "3", b"link"), Item("link", 3, "link", HASH)),
        (line("160000", "commit", "-", b"sub"), Item("sub", 0, "other", f"commit:{HASH}")),
        (line("100644", "blob", "1", b"a\tb\nc"), Item("a\tb\nc", 1, "file", HASH)),
        (line("100644", "blob", "1", b"\xff"), Item("\udcff", 1, "file", HASH)),
        (line("140000", "blob", "1", b"odd"), Item("odd", 1, "other", HASH)),
    ],
)
def test_a_line_of_a_list_is_an_item_however_it_is_cut(raw: bytes, item: Item) -> None:
    found = [
        list(git_commands.read_entries([raw])),
        list(git_commands.read_entries([raw[at : at + 1] for at in range(len(raw))])),
    ]

    assert [[item], [item]] == found


@pytest.mark.parametrize(
    "raw", [b"garbage\0", b"100644 blob zz 1\tx\0", line("100644", "blob", "1", b"x")[:-1]]
)
def test_a_list_that_cannot_be_read_is_an_error(raw: bytes) -> None:
    with pytest.raises(SourceError) as caught:
        list(git_commands.read_entries([raw]))

    assert "git" == caught.value.code


@pytest.mark.parametrize("raw", [[line("100644", "blob", "1", b"x" * 10_000)], [b"x" * 65536] * 3])
def test_a_line_without_end_is_refused(raw: list[bytes]) -> None:
    with pytest.raises(RefusedError) as caught:
        list(git_commands.read_entries(raw))

    assert "unsafe-path" == caught.value.code


def test_a_tag_counts_as_the_commit_behind_it() -> None:
    found = git_commands.read_tips(
        f"{HASH}\tHEAD\n{HASH}\trefs/tags/v1\n{OTHER}\trefs/tags/v1^{{}}\nnonsense\n\n".encode()
    )

    assert {"HEAD": RefTip("HEAD", HASH), "refs/tags/v1": RefTip("refs/tags/v1", OTHER)} == found


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ("", "HEAD"),
        ("x", "refs/heads/x"),
        ("y", "refs/tags/y"),
        ("pull/1/head", "refs/pull/1/head"),
        ("refs/tags/x", "refs/tags/x"),
        ("none", None),
    ],
)
def test_a_branch_comes_before_a_tag_of_its_name(ref: str, name: str | None) -> None:
    known = {
        one: RefTip(one, HASH)
        for one in ("HEAD", "refs/heads/x", "refs/tags/x", "refs/tags/y", "refs/pull/1/head")
    }

    found = git_commands.choose_tip(ref, known)

    assert name == (found.name if found else None)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("HEAD", True),
        ("refs/heads/main", True),
        ("refs/tags/v1", True),
        ("refs/pull/1/head", False),
        ("refs/merge-requests/1/head", False),
        ("refs/changes/1", False),
    ],
)
def test_only_branches_and_tags_are_a_source_s_own(name: str, own: bool) -> None:
    assert own is RefTip(name, HASH).is_own


def test_git_is_told_little_of_this_user_and_nothing_of_this_process() -> None:
    env = {
        "PATH": "/bin",
        "HOME": "/h",
        "SSH_AUTH_SOCK": "/s",
        "GIT_DIR": "/x",
        "GIT_ASKPASS": "/x",
        "LD_PRELOAD": "/x",
        "SECRET": "x",
        "GIT_EXEC_PATH": "/x",
    }

    found = git_commands.environment(env, ("https", "ssh"), "ssh -o BatchMode=yes")

    assert {"PATH", "HOME", "SSH_AUTH_SOCK"} == env.keys() & found.keys()
    assert ("0", "https:ssh", "ssh -o BatchMode=yes") == (
        found["GIT_TERMINAL_PROMPT"],
        found["GIT_ALLOW_PROTOCOL"],
        found["GIT_SSH_COMMAND"],
    )


def test_a_user_s_own_way_of_starting_ssh_stays() -> None:
    found = [
        git_commands.environment(env, ("ssh",), "ssh -o BatchMode=yes").get("GIT_SSH_COMMAND")
        for env in ({"GIT_SSH_COMMAND": "mine"}, {"GIT_SSH": "mine"})
    ]

    assert ["mine", None] == found


def test_only_the_named_protocols_are_allowed() -> None:
    found = git_commands.command("/r", ("https",))

    assert {
        "protocol.allow=never",
        "protocol.https.allow=always",
        "core.hooksPath=/dev/null",
        "http.followRedirects=false",
    } <= set(found)
    assert "protocol.file.allow=always" not in found


def test_a_host_is_pinned_to_what_was_checked() -> None:
    assert "http.curloptResolve=h:443:1.2.3.4,[2606::1]" == git_commands.pin_host(
        "h", "443", ["1.2.3.4", "2606::1"]
    )


@pytest.mark.parametrize(
    ("message", "kind", "code"),
    [
        (
            b"fatal: unable to access 'https://h/x/': The requested URL returned error: 301",
            RefusedError,
            "redirect",
        ),
        (b"fatal: transport 'ext' not allowed", RefusedError, "unsafe-transport"),
        (
            b"error: object abc: hasDotgit: contains '.git'\nfatal: fsck error in packed object",
            RefusedError,
            "unsafe-path",
        ),
        (
            b"error: object abc: duplicateEntries: contains duplicate file entries",
            RefusedError,
            "malformed",
        ),
        (b"fatal: couldn't find remote ref x", SourceError, "not-found"),
        (
            b"remote: Repository not found.\nfatal: repository 'https://h/x/' not found",
            SourceError,
            "not-found",
        ),
        (
            b"fatal: could not read Username for 'https://github.com': terminal prompts disabled",
            SourceError,
            "git",
        ),
        (
            b"git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.",
            SourceError,
            "git",
        ),
        (b"\xff\xfe something", SourceError, "git"),
        (b"", SourceError, "git"),
    ],
)
def test_a_complaint_of_git_has_a_code(message: bytes, kind: type[MetierError], code: str) -> None:
    found = git_commands.git_error(message, "https://h/x")

    assert (kind, code) == (type(found), code)
    assert found.hint


def test_what_a_server_says_is_shown_without_its_escapes_and_without_a_password() -> None:
    found = git_commands.git_error(
        b"remote: \x1b[2J\x07hello https://user:hunter2@h/x\nfatal: no " + b"x" * 100_000, "s"
    )

    assert found.message.isprintable()
    assert "hunter2" not in found.message
    assert 600 > len(found.message)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        f"{HASH} missing\n".encode(),
        f"{HASH} tree 5\n".encode(),
        f"{HASH} blob 6\n".encode(),
        f"{OTHER} blob 5\n".encode(),
        b"\xff\n",
    ],
)
def test_an_object_that_is_not_what_was_promised_is_an_error(header: bytes) -> None:
    with pytest.raises(SourceError) as caught:
        git_commands.read_batch_header(header, Item("a", 5, "file", HASH))

    assert "git" == caught.value.code


@pytest.mark.parametrize(
    ("said", "pins"),
    [
        (b"git version 2.39.5\n", True),
        (b"git version 2.37.0 (Apple Git-1)", True),
        (b"git version 3.0", True),
        (b"git version 2.36.6", False),
        (b"git version 1.99", False),
        (b"", False),
        (b"nonsense", False),
    ],
)
def test_only_a_git_that_connects_where_it_is_told_to_is_used_for_strangers(
    said: bytes, pins: bool
) -> None:
    assert pins == git_commands.pins_addresses(said)
