"""Opening git repositories: real ones, over file and over http."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.repositories import Repository, environment, served, skill

from metier.errors import RefusedError, SourceError
from metier.settings.model import SupplySettings
from metier.supply.io import git_process
from metier.supply.io.git import GitFetcher, GitTree
from metier.supply.model import Item, Request
from metier.supply.sources.source_name import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = {
    "skills/pdf/SKILL.md": skill("pdf"),
    "skills/pdf/scripts/fill.sh": "#!/bin/sh\n",
    "README.md": "# Read me\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "source")
    made.commit(CASES)
    return made


def fetcher(tmp_path: Path, limits: SupplySettings | None = None) -> GitFetcher:
    return GitFetcher(str(tmp_path / "cache"), limits or SupplySettings(), environment(tmp_path))


def read(tree: GitTree, items: list[Item] | None = None) -> dict[str, bytes]:
    wanted = list(tree.items()) if items is None else items
    return {item.path: b"".join(chunks) for item, chunks in tree.contents(wanted)}


@pytest.fixture
def opened(tmp_path: Path, repository: Repository) -> Iterator[GitTree]:
    tree = fetcher(tmp_path).open(Request("git", repository.address))
    yield tree
    tree.close()


def test_the_default_branch_is_opened_at_its_commit(
    repository: Repository, opened: GitTree
) -> None:
    origin = opened.origin

    assert ("git", repository.address, "", repository.git("rev-parse", "HEAD")) == tuple(origin)


def test_every_file_is_listed_with_its_size_and_mode(
    tmp_path: Path, repository: Repository
) -> None:
    (repository.path / "skills/pdf/scripts/fill.sh").chmod(0o755)
    (repository.path / "link").symlink_to("README.md")
    repository.commit({})

    tree = fetcher(tmp_path).open(Request("git", repository.address))

    assert {
        ("README.md", 10, "file"),
        ("link", 9, "link"),
        ("skills/pdf/SKILL.md", len(CASES["skills/pdf/SKILL.md"]), "file"),
        ("skills/pdf/scripts/fill.sh", 10, "exec"),
    } == {item[:3] for item in tree.items()}
    tree.close()


def test_bytes_come_in_the_order_asked_for_whatever_their_number_and_size(
    tmp_path: Path, repository: Repository
) -> None:
    files = {f"many/{number:03}": os.urandom(number * 17) for number in range(200)} | {
        "big": os.urandom(3_000_000)
    }
    repository.commit(files)
    tree = fetcher(tmp_path).open(Request("git", repository.address))
    items = [item for item in reversed(tree.items()) if item.path in files]

    found = [(item.path, b"".join(chunks)) for item, chunks in tree.contents(items)]

    assert [(item.path, files[item.path]) for item in items] == found
    tree.close()


def test_a_reader_that_stops_in_the_middle_leaves_the_next_one_undisturbed(opened: GitTree) -> None:
    for _item, _chunks in opened.contents(opened.items()):
        break

    found = read(opened)

    assert {name: text.encode() for name, text in CASES.items()} == found


def test_chunks_that_nobody_used_do_not_shift_what_follows(opened: GitTree) -> None:
    found = [item.path for item, _chunks in opened.contents(opened.items())]

    assert sorted(CASES) == sorted(found)
    assert {name: text.encode() for name, text in CASES.items()} == read(opened)


@pytest.mark.parametrize("ref", ["feature", "refs/heads/feature", "v1", "refs/tags/v1", "light"])
def test_a_branch_or_a_tag_leads_to_its_commit(
    tmp_path: Path, repository: Repository, ref: str
) -> None:
    old = repository.git("rev-parse", "HEAD")
    repository.git("branch", "feature")
    repository.git("tag", "-a", "v1", "-m", "one")
    repository.git("tag", "light")
    repository.commit({"README.md": "newer\n"})

    tree = fetcher(tmp_path).open(Request("git", repository.address, ref))

    assert old == tree.origin.commit
    assert old == fetcher(tmp_path).newest(Request("git", repository.address, ref))
    tree.close()


def test_a_path_limits_the_list(tmp_path: Path, repository: Repository) -> None:
    tree = fetcher(tmp_path).open(Request("git", repository.address, "", "skills/pdf"))

    assert ["skills/pdf/SKILL.md", "skills/pdf/scripts/fill.sh"] == [
        item.path for item in tree.items()
    ]
    tree.close()


def test_an_old_commit_is_fetched_by_its_hash_and_then_needs_no_source(
    tmp_path: Path, repository: Repository
) -> None:
    old = repository.git("rev-parse", "HEAD")
    repository.commit({"README.md": "newer\n"})
    fetcher(tmp_path).open(Request("git", repository.address, old)).close()
    repository.path.rename(tmp_path / "gone")

    tree = fetcher(tmp_path).open(Request("git", repository.address, old))

    assert b"# Read me\n" == read(tree)["README.md"]
    assert old == fetcher(tmp_path).newest(Request("git", repository.address, old))
    tree.close()


def test_what_is_here_already_is_not_fetched_again(tmp_path: Path, repository: Repository) -> None:
    fetcher(tmp_path).open(Request("git", repository.address)).close()
    packs = sorted(str(path) for path in (tmp_path / "cache").rglob("*.pack"))

    fetcher(tmp_path).open(Request("git", repository.address)).close()

    assert packs == sorted(str(path) for path in (tmp_path / "cache").rglob("*.pack"))
    assert 1 == len(packs)


def test_a_branch_that_moved_on_is_opened_where_it_is_now(
    tmp_path: Path, repository: Repository
) -> None:
    fetcher(tmp_path).open(Request("git", repository.address, "main")).close()
    new = repository.commit({"README.md": "newer\n"})

    tree = fetcher(tmp_path).open(Request("git", repository.address, "main"))

    assert (new, b"newer\n") == (tree.origin.commit, read(tree)["README.md"])
    tree.close()


@pytest.mark.parametrize("damage", ["pack", "HEAD", "nothing"])
def test_a_damaged_copy_is_thrown_away_and_made_again(
    tmp_path: Path, repository: Repository, damage: str
) -> None:
    fetcher(tmp_path).open(Request("git", repository.address)).close()
    for path in (
        list((tmp_path / "cache").rglob("*.pack"))
        if damage == "pack"
        else (tmp_path / "cache").glob("*.git/HEAD")
    ):
        path.chmod(0o600)
        path.write_bytes(b"" if damage != "nothing" else path.read_bytes())

    tree = fetcher(tmp_path).open(Request("git", repository.address))

    assert {name: text.encode() for name, text in CASES.items()} == read(tree)
    tree.close()


@pytest.mark.parametrize("damage", ["gone", "emptied", "replaced"])
def test_a_copy_that_is_taken_away_while_it_is_read_is_brought_back(
    tmp_path: Path, repository: Repository, damage: str
) -> None:
    tree = fetcher(tmp_path).open(Request("git", repository.address))
    for copy in (tmp_path / "cache").glob("*.git"):
        if damage == "emptied":  # the list was read; now not one object is left
            for path in (*copy.rglob("*.pack"), *copy.rglob("*.idx")):
                path.unlink()
        else:
            shutil.rmtree(copy)
    if damage == "replaced":  # by somebody who asked for another commit, as others may
        repository.commit({"README.md": "newer\n"})
        fetcher(tmp_path).open(Request("git", repository.address)).close()

    assert {name: text.encode() for name, text in CASES.items()} == read(tree)
    tree.close()


def test_a_copy_that_cannot_be_brought_back_is_an_error(
    tmp_path: Path, repository: Repository
) -> None:
    tree = fetcher(tmp_path).open(Request("git", repository.address))
    for path in (*(tmp_path / "cache").glob("*.git"), repository.path):
        shutil.rmtree(path)

    with pytest.raises(SourceError) as caught:
        read(tree)

    assert "not-found" == caught.value.code
    tree.close()


@pytest.mark.parametrize(
    ("ref", "code"), [("nowhere", "not-found"), ("0" * 40, "not-found"), ("tree", "git")]
)
def test_a_ref_that_leads_to_no_commit_is_an_error(
    tmp_path: Path, repository: Repository, ref: str, code: str
) -> None:
    repository.git("tag", "tree", repository.git("rev-parse", "HEAD^{tree}"))

    with pytest.raises(SourceError) as caught:
        fetcher(tmp_path).open(Request("git", repository.address, ref))

    assert code == caught.value.code


def test_a_repository_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        fetcher(tmp_path).open(Request("git", f"file://{tmp_path}/nothing"))

    assert "not-found" == caught.value.code


def test_an_empty_repository_has_no_branch(tmp_path: Path) -> None:
    empty = Repository(tmp_path / "empty")

    with pytest.raises(SourceError) as caught:
        fetcher(tmp_path).open(Request("git", empty.address))

    assert "not-found" == caught.value.code


def test_a_repository_of_the_longer_hashes_is_opened_too(tmp_path: Path) -> None:
    made = Repository(tmp_path / "long")
    made.git("init", "-q", "--object-format=sha256", str(tmp_path / "longer"))
    made.path = tmp_path / "longer"
    commit = made.commit(CASES)

    tree = fetcher(tmp_path).open(Request("git", made.address))

    assert (64, commit) == (len(tree.origin.commit), tree.origin.commit)
    assert CASES["README.md"].encode() == read(tree)["README.md"]
    tree.close()


def test_a_pointer_to_a_file_kept_elsewhere_stays_a_pointer_and_is_noted(
    tmp_path: Path, repository: Repository
) -> None:
    pointer = (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12\n"
    )
    repository.commit({"model.bin": pointer})
    tree = fetcher(tmp_path).open(Request("git", repository.address))

    found = read(tree)

    assert pointer == found["model.bin"]
    assert [
        "model.bin stands for a file that is kept elsewhere (LFS), which is not fetched"
    ] == tree.problems
    tree.close()


def test_closing_ends_the_process_that_reads(opened: GitTree) -> None:
    read(opened)
    child = opened._batch  # noqa: SLF001 - there is no other way to see it

    opened.close()

    assert child is not None
    assert child.returncode is not None


# --- whose commit it is


def test_a_commit_of_a_branch_or_a_tag_is_vouched_for(
    tmp_path: Path, repository: Repository
) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.commit({"README.md": "newer\n"})

    found = [
        fetcher(tmp_path).open(Request("git", repository.address, ref)) for ref in ("main", first)
    ]

    assert [True, True] == [tree.vouched() for tree in found]


def test_a_commit_that_only_a_pull_request_leads_to_is_not(
    tmp_path: Path, repository: Repository
) -> None:
    repository.git("checkout", "-q", "-b", "theirs")
    theirs = repository.commit({"README.md": "theirs\n"})
    repository.git("checkout", "-q", "main")
    repository.git("update-ref", "refs/pull/1/head", theirs)
    repository.git("branch", "-q", "-D", "theirs")

    found = [
        fetcher(tmp_path / str(at)).open(Request("git", repository.address, ref))
        for at, ref in enumerate(("pull/1/head", theirs))
    ]

    assert [theirs, theirs] == [tree.origin.commit for tree in found]
    assert [False, False] == [tree.vouched() for tree in found]


# --- over http


@pytest.mark.loopback
def test_a_repository_is_opened_over_http(tmp_path: Path, repository: Repository) -> None:
    old = repository.git("rev-parse", "HEAD")
    new = repository.commit({"README.md": "newer\n"})
    with served(tmp_path) as server:
        limits = SupplySettings(private_hosts=(server.place,))

        tips = [
            fetcher(tmp_path, limits).open(Request("git", server.address("source/.git"), ref))
            for ref in ("", "main", old)
        ]

        assert [new, new, old] == [tree.origin.commit for tree in tips]
        assert [b"newer\n", b"newer\n", b"# Read me\n"] == [
            read(tree)["README.md"] for tree in tips
        ]
        assert [True, True, True] == [tree.vouched() for tree in tips]
    for tree in tips:
        tree.close()


@pytest.mark.loopback
def test_a_redirection_within_the_rules_is_followed_but_vouches_for_nothing(
    tmp_path: Path, repository: Repository
) -> None:
    with served(tmp_path) as server:
        server.moved["/old"] = f"http://{server.place}/source/.git"

        tree = fetcher(tmp_path, SupplySettings(private_hosts=(server.place,))).open(
            Request("git", server.address("old"))
        )

        assert repository.git("rev-parse", "HEAD") == tree.origin.commit
        assert server.address("old") == tree.origin.source
        assert not tree.vouched()


@pytest.mark.loopback
def test_a_repository_that_a_server_does_not_have_is_not_found(tmp_path: Path) -> None:
    with served(tmp_path) as server, pytest.raises(SourceError) as caught:
        fetcher(tmp_path, SupplySettings(private_hosts=(server.place,))).open(
            Request("git", server.address("none.git"))
        )

    assert "not-found" == caught.value.code


# --- limits


def test_a_repository_that_is_too_large_is_given_up(tmp_path: Path, repository: Repository) -> None:
    repository.commit({f"{number}": os.urandom(400_000) for number in range(20)})

    with pytest.raises(RefusedError) as caught:
        fetcher(tmp_path, SupplySettings(download_bytes=100_000)).open(
            Request("git", repository.address)
        )

    assert "too-large" == caught.value.code


def test_a_repository_with_too_many_files_is_refused_but_a_path_in_it_is_not(
    tmp_path: Path, repository: Repository
) -> None:
    repository.commit({f"many/{number}": "x" for number in range(50)})
    small = fetcher(tmp_path, SupplySettings(files=20))

    with pytest.raises(RefusedError) as caught:
        small.open(Request("git", repository.address))
    tree = small.open(Request("git", repository.address, "", "skills"))

    assert "too-many" == caught.value.code
    assert 2 == len(tree.items())
    tree.close()


def test_a_fetch_that_takes_too_long_is_ended(tmp_path: Path, repository: Repository) -> None:
    with pytest.raises(SourceError) as caught:
        fetcher(tmp_path, SupplySettings(seconds=0)).open(Request("git", repository.address))

    assert "timeout" == caught.value.code


# --- processes


def test_an_interruption_leaves_no_process(tmp_path: Path) -> None:
    written = tmp_path / "pid"

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            git_process.run_git(
                ["sh", "-c", f"sleep 600 & echo $! > {written}; wait"],
                {"PATH": os.environ["PATH"]},
                git_process.GitBounds(time.monotonic() + 60),
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    assert not is_alive(int(written.read_text()))


def test_more_output_than_is_read_is_an_error_however_fast_it_came() -> None:
    with pytest.raises(RefusedError) as caught:
        git_process.run_git(
            ["sh", "-c", "echo 12345"],
            {"PATH": os.environ["PATH"]},
            git_process.GitBounds(time.monotonic() + 60, output=3),
        )

    assert "too-large" == caught.value.code


def test_what_got_away_and_holds_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    written = tmp_path / "pid"
    words = [
        "sh",
        "-c",
        f"setsid sh -c 'echo $$ > {written}; exec sleep 600' & while ! test -s {written}; do sleep 0.01; done; echo done",
    ]

    ended = git_process.run_git(
        words, {"PATH": os.environ["PATH"]}, git_process.GitBounds(time.monotonic() + 60)
    )

    assert (0, b"done\n", True) == (ended.code, ended.output, is_alive(int(written.read_text())))
    os.kill(int(written.read_text()), signal.SIGKILL)


def test_a_process_whose_threads_nobody_waits_for_leaves_none_behind(tmp_path: Path) -> None:
    written = tmp_path / "pid"
    program = (
        "import os, threading, time\n"
        "from metier.supply.io import git_process as proc\n"
        f"words = ['sh', '-c', 'echo $$ > {written}; sleep 600']\n"
        "run = lambda: proc.run_git(words, {'PATH': os.environ['PATH']}, proc.GitBounds(time.monotonic() + 600))\n"
        "threading.Thread(target=run, daemon=True).start()\n"
        f"while not os.path.exists({str(written)!r}) or not os.path.getsize({str(written)!r}): time.sleep(0.01)\n"
    )

    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    for _turn in range(500):
        if not is_alive(int(written.read_text())):
            break
        time.sleep(0.01)

    assert not is_alive(int(written.read_text()))


def is_alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_a_machine_without_git_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        GitFetcher(str(tmp_path / "cache"), SupplySettings(), {"PATH": str(tmp_path)}).open(
            Request("git", f"file://{tmp_path}")
        )

    assert ("git", True) == (caught.value.code, "not installed" in caught.value.message)


def test_several_at_once_share_one_copy(tmp_path: Path, repository: Repository) -> None:
    def work(_turn: int) -> dict[str, bytes]:
        tree = fetcher(tmp_path).open(Request("git", repository.address))
        try:
            return read(tree)
        finally:
            tree.close()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(8)))

    assert [{name: text.encode() for name, text in CASES.items()}] * 8 == found
    assert 1 == len(list((tmp_path / "cache").rglob("*.pack")))


# --- over ssh, by a stand-in that runs the other side here


@pytest.mark.parametrize("form", ["ssh://git@git.example{path}", "git@git.example:{path}"])
def test_a_repository_is_opened_over_ssh_by_the_user_s_own_command(
    tmp_path: Path, repository: Repository, form: str
) -> None:
    program = tmp_path / "stand-in"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nfor last; do :; done\neval "$last"\n'
    )
    program.chmod(0o700)
    env = {**environment(tmp_path), "GIT_SSH_COMMAND": str(program)}
    request = Request("git", form.format(path=repository.path))

    tree = GitFetcher(
        str(tmp_path / "cache"),
        SupplySettings(),
        env,
        lookup=lambda _host, _port: ("93.184.216.34",),
    ).open(request)

    assert CASES["README.md"].encode() == read(tree)["README.md"]
    assert "git@git.example" in (tmp_path / "asked").read_text()
    tree.close()


def test_offline_it_says_that_the_host_could_not_be_reached(tmp_path: Path) -> None:
    def offline(_host: str, _port: int) -> tuple[str, ...]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    request = parse("acme/skills", cwd="/", home=None, kind_of=lambda _path: None)
    off = GitFetcher(str(tmp_path), SupplySettings(), environment(tmp_path), lookup=offline)

    with pytest.raises(SourceError) as caught:
        off.open(request)

    assert "not-found" == caught.value.code
    assert str(caught.value).startswith("github.com could not be reached: ")
    assert "are you online?" in caught.value.hint
