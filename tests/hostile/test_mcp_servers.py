"""An MCP server that lies, hangs, floods or leads elsewhere costs an error with a code, within limits, and
leaves everything as it was.
"""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest
from fakes import mcp_server
from fakes.mcp_server import Answers, RefusedRequest, ToyServer, uri
from fakes.shop import DANGEROUS, Shop, document, yes

from metier.errors import MetierError
from metier.supply.io import mcp_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.loopback
GOOD = {"count": {"SKILL.md": document("count").encode(), "run.sh": b"echo\n"}}


@pytest.fixture
def toy() -> Iterator[ToyServer]:
    with ToyServer(Answers({name: dict(files) for name, files in GOOD.items()})) as running:
        yield running


@pytest.fixture
def shop(tmp_path: Path, toy: ToyServer) -> Shop:
    made = Shop(tmp_path)
    made.configure(
        f'[supply]\nprivate_hosts = ["{toy.place}"]\ndownload_bytes = 2000000\nfile_bytes = 200000\nseconds = 20\n'
    )
    return made


def code_of(shop: Shop, source: str, **options: Any) -> str:
    """Give the code that adding from a source ends with, and see that it left nothing behind."""
    before = shop.seen()
    with shop.open() as m:
        try:
            added = m.add(source, consent=yes, **options)
        except MetierError as error:
            code = error.code
        else:
            code = added.refused[0].reasons[0].partition(":")[0] if added.refused else ""
    if code:
        assert before == shop.seen()
    return code


def entry(toy: ToyServer, **changed: Any) -> dict[str, Any]:
    return {"skills": [{**toy.answers.entry("count"), **changed}]}


def files(*more: dict[str, Any]) -> Callable[[ToyServer], Any]:
    """Have an entry list further files."""
    return lambda toy: entry(
        toy, resources=[*toy.answers.entry("count")["resources"], *({"digest": "sha256:" + "0" * 64, "size": 1, **one} for one in more)]
    )  # fmt: skip


def flood(_toy: ToyServer) -> Any:
    rows = [{"uri": uri(f"s{at}", "SKILL.md")} for at in range(300)]
    count = iter(range(10**9))
    return lambda _params: {"skills": rows, "nextCursor": str(next(count))}


def circle(_toy: ToyServer) -> Any:
    return lambda _params: {"skills": [], "nextCursor": "again"}


def nobody(_params: dict[str, Any]) -> Any:
    raise RefusedRequest(-32603, "no")


LISTS: dict[str, tuple[Callable[[ToyServer], Any], set[str]]] = {
    "another server's files": (files({"uri": "skill://other/x"}), {"unsafe-path"}),
    "a file of the disk": (files({"uri": "file:///etc/passwd"}), {"unsafe-path"}),
    "a climbing path": (files({"uri": "skill://count/%2e%2e/%2e%2e/x"}), {"unsafe-path"}),
    "two names that are one": (files({"uri": uri("count", "RUN.sh")}), {"collision"}),
    "a file larger than may be": (files({"uri": uri("count", "big"), "size": 10**12}), {"too-large"}),
    "a file that is not there": (files({"uri": uri("count", "gone")}), {"mcp"}),
    "other frontmatter": (lambda toy: entry(toy, frontmatter={"name": "evil"}), {"malformed"}),
    "no list": (lambda _toy: {"skills": {"count": 1}}, {"malformed"}),
    "a list of texts": (lambda _toy: {"skills": ["count"]}, {"malformed"}),
    "nothing": (lambda _toy: {"skills": []}, {"no-skill"}),
    "a flood": (flood, {"too-many"}),
    "a circle": (circle, {"too-many"}),
    "an error": (lambda _toy: nobody, {"mcp"}),
    "a cursor that is none": (lambda _toy: {"skills": [], "nextCursor": 7}, {"malformed"}),
    "one skill twice": (lambda toy: {"skills": entry(toy)["skills"] * 2}, {"malformed"}),
}  # fmt: skip


@pytest.mark.parametrize("name", list(LISTS))
def test_a_list_that_cannot_be_believed_is_refused(shop: Shop, toy: ToyServer, name: str) -> None:
    make, codes = LISTS[name]
    toy.answers.said["skills/list"] = make(toy)

    assert code_of(shop, f"mcp+{toy.url}") in codes


@pytest.mark.parametrize("way", ["extension", "manifest"])
def test_lists_that_are_too_much_together_are_refused(
    shop: Shop, toy: ToyServer, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(mcp_source, "MAX_LISTING_BYTES", 100_000)
    count = iter(range(10**9))
    toy.answers.way = way
    if way == "extension":
        toy.answers.said["skills/list"] = lambda _params: {
            "skills": [{**toy.answers.entry("count"), "x": "x" * 20_000}],
            "nextCursor": str(next(count)),
        }
    else:
        rows = [{"uri": uri(f"s{at}", "SKILL.md")} for at in range(100)]
        toy.answers.said["resources/list"] = {"resources": rows}
        toy.answers.said["resources/read"] = {"contents": [{"text": "x" * 20_000}]}

    assert "too-large" == code_of(shop, f"mcp+{toy.url}")
    assert len(toy.answers.asked) < 12


RAW = {
    "a gigabyte": b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * 20_000_000,
    "no JSON": b"<html>",
    "a list": b"[1]",
    "a number": b'{"jsonrpc":"2.0","id":1,"result":7}',
    "deep": b"[" * 200_000,
    "another id": b'{"jsonrpc":"2.0","id":99,"result":{}}',
    "nothing": b"",
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", list(RAW))
def test_an_answer_that_is_none_is_refused(
    shop: Shop, toy: ToyServer, name: str, stream: bool
) -> None:
    toy.raw, toy.stream = RAW[name], stream

    assert code_of(shop, f"mcp+{toy.url}") in {"malformed", "too-large", "mcp"}


def test_a_file_with_other_bytes_than_promised_is_not_installed(shop: Shop, toy: ToyServer) -> None:
    toy.answers.lies_every = 1

    assert "digest" == code_of(shop, f"mcp+{toy.url}", skills=["count"])


def test_a_dangerous_skill_is_refused_like_any_other(shop: Shop, toy: ToyServer) -> None:
    toy.answers.skills["count"]["SKILL.md"] = document("count", DANGEROUS).encode()

    assert code_of(shop, f"mcp+{toy.url}")


def test_a_server_that_hangs_is_left_after_its_time(shop: Shop, toy: ToyServer) -> None:
    shop.configure(f'[supply]\nprivate_hosts = ["{toy.place}"]\nseconds = 1\n')
    toy.hang.set()

    assert "timeout" == code_of(shop, f"mcp+{toy.url}")


def test_a_server_of_this_machine_that_nobody_named_is_not_asked(
    tmp_path: Path, toy: ToyServer
) -> None:
    shop = Shop(tmp_path)

    assert code_of(shop, f"mcp+{toy.url}") in {"host", "private-address"}
    assert [] == toy.answers.asked


def test_a_missing_token_is_said_and_none_is_written_anywhere(shop: Shop, toy: ToyServer) -> None:
    toy.token = "open-sesame"

    assert "unreachable" == code_of(shop, f"mcp+{toy.url}")
    assert "credentials" == code_of(shop, toy.url.replace("http://", "mcp+http://ada:open-sesame@"))
    shop.configure(f'[mcp.upstreams.toy]\nurl = "{toy.url}"\ntoken = "TOY_TOKEN"\n')
    shop.env["TOY_TOKEN"] = "open-sesame"
    assert "" == code_of(shop, f"mcp+{toy.url}")

    kept = b"".join(
        path.read_bytes()
        for root in (shop.project, shop.data)
        for path in root.rglob("*")
        if path.is_file()
    )
    assert b"open-sesame" not in kept


# --- commands


def test_a_command_that_only_a_lock_names_is_never_started(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.offer("count")
    trace = tmp_path / "started"
    program = shlex.join(
        [sys.executable, "-c", f"open({str(trace)!r}, 'w').close(); import runpy, sys; sys.argv = ['x', {str(shop.shelf)!r}]; runpy.run_path({mcp_server.__file__!r}, run_name='__main__')"]
    )  # fmt: skip
    with shop.open() as m:
        m.context.may_start = lambda _command: True
        m.add(f"mcp+stdio:{program}", consent=yes)
    assert trace.exists()
    trace.unlink()
    before = shop.seen()
    with shop.open() as m:
        stale = m.outdated()
        updated = m.update(consent=yes)

    assert not trace.exists()
    assert [("unavailable", True)] == [(one.state, "sandbox" in one.why) for one in stale]
    assert not updated.ok
    assert before == shop.seen()
    assert "command" == code_of(shop, f"mcp+stdio:{program}")
    assert not trace.exists()


COMMANDS = {
    "ends at once": ("pass", "unreachable"),
    "hangs": ("import time; time.sleep(100)", "timeout"),
    "floods": ("import os; [os.write(1, b'x' * 65536) for _ in iter(int, 1)]", "too-large"),
    "flood of lines": (
        "import os; [os.write(1, b' ' * 9999 + bytes([10])) for _ in iter(int, 1)]",
        "too-large",
    ),
}


@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_command_that_is_no_server_is_ended(tmp_path: Path, name: str) -> None:
    program, code = COMMANDS[name]
    shop = Shop(tmp_path)
    words = [sys.executable, "-c", program]
    seconds = 2 if code == "timeout" else 60
    shop.configure(
        f"[supply]\nseconds = {seconds}\n[mcp.upstreams.odd]\ncommand = {json.dumps(words)}\n"
    )

    assert code == code_of(shop, f"mcp+stdio:{shlex.join(words)}")


def test_a_command_gets_no_variable_but_the_usual_ones_and_its_own_token(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    told = tmp_path / "env"
    words = [sys.executable, "-c", f"import os; open({str(told)!r}, 'w').write(str(dict(os.environ)))"]  # fmt: skip
    shop.configure(
        f'[mcp.upstreams.odd]\ncommand = {json.dumps(words)}\ntoken = "ODD_TOKEN"\n[mcp.upstreams.other]\nurl = "https://example.com/mcp"\ntoken = "OTHER_TOKEN"\n'
    )
    shop.env.update(ODD_TOKEN="odd-secret", OTHER_TOKEN="other-secret", AWS_SECRET="cloud-secret")

    code_of(shop, f"mcp+stdio:{shlex.join(words)}")

    env = told.read_text()
    assert "odd-secret" in env
    assert "other-secret" not in env
    assert "cloud-secret" not in env
