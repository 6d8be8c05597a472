"""Other MCP servers' skills among one's own: what was promised or nothing, pinned to what was first seen."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest
from fakes.mcp_server import Answers, ToyServer
from fakes.shop import DANGEROUS, SAFE, Shop, document, write_skill

from metier.disclose import offer
from metier.errors import MetierError, StoreError, UsageError
from metier.supply import join
from metier.supply.io import joined_files
from metier.trust.model import level_of_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from metier.library import Library

pytestmark = pytest.mark.loopback
OTHER = "Other words.\n"


def skills(*names: str) -> dict[str, dict[str, bytes]]:
    return {
        name: {"SKILL.md": document(name).encode(), "scripts/run.sh": b"echo\n"} for name in names
    }


@pytest.fixture
def toy() -> Iterator[ToyServer]:
    with ToyServer(Answers(skills("count", "other"))) as running:
        yield running


@pytest.fixture
def shop(tmp_path: Path, toy: ToyServer) -> Shop:
    made = Shop(tmp_path)
    made.configure(
        f'[mcp]\nupstream_seconds = 20\n[mcp.upstreams]\ntoy = "{toy.url}"\n[supply]\nfile_bytes = 100000\n'
    )
    return made


def offered(m: Library) -> set[str]:
    return {card.name for card in offer.offered_cards(m.context)}


def usable(m: Library, name: str) -> str:
    """Give the body of a skill, or the code that it is refused with."""
    try:
        return m.load(name, again=True).text
    except MetierError as error:
        return error.code


def test_a_server_s_skills_are_joined_under_its_name_and_a_local_one_keeps_its_own(
    shop: Shop, toy: ToyServer
) -> None:
    write_skill(shop.home / ".agents/skills/count", "count", "Mine.\n")
    with shop.open() as m:
        m.join_upstreams()
        look = m.refresh_upstream("toy")
        again = m.refresh_upstream("toy")

        assert {"count", "toy:count", "toy:other"} == offered(m)
        assert "Mine." in usable(m, "count")
        assert "Count the words" in usable(m, "toy:count")
        assert ("mcp+" + toy.url) in " ".join(m.trust("toy:count").reasons)
    assert (("count", "other"), (), ()) == (look.added, look.changed, look.refused)
    assert not again.is_news
    with shop.open() as m:  # a person sees them without serving anything; an agent does not
        assert "toy:other" in {card.name for card in m.skills()}
        with m.as_agent("codex") as codex:
            assert {"count"} == {card.name for card in codex.skills()}


def test_what_a_server_s_skill_needs_is_that_server_s(shop: Shop, toy: ToyServer) -> None:
    toy.answers.skills["top"] = {
        "SKILL.md": document("top", fields="depends-on: [count]\n").encode()
    }
    write_skill(shop.home / ".agents/skills/count", "count", "Mine.\n")
    with shop.open() as m:
        m.join_upstreams()
        m.refresh_upstream("toy")

        assert ["toy:count"] == [one.name for one in m.tree("toy:top").requires]
        assert ("toy:top",) == m.tree("toy:count").required_by
        assert () == m.tree("count").required_by


def test_a_changed_skill_waits_for_a_yes_to_these_very_bytes(shop: Shop, toy: ToyServer) -> None:
    with shop.open() as m:
        m.join_upstreams()
        m.refresh_upstream("toy")
        toy.answers.skills["count"]["SKILL.md"] = document("count", OTHER).encode()

        changed = m.refresh_upstream("toy")
        held = usable(m, "toy:count")
        assert {"toy:other"} == offered(m)
        m.trust("toy:count", "approve")
        assert "Other words." in usable(m, "toy:count")
        toy.answers.skills["count"]["scripts/run.sh"] = b"echo more\n"
        m.refresh_upstream("toy")
        assert "ask" == usable(m, "toy:count")

    assert (("count",), "ask") == (changed.changed, held)
    assert [("upstream", "changed", "toy:count")] * 2 == [
        one for one in shop.events() if one[0] == "upstream"
    ]


def test_what_turns_back_to_what_was_first_seen_is_served_again(shop: Shop, toy: ToyServer) -> None:
    first = toy.answers.skills["count"]["SKILL.md"]
    with shop.open() as m:
        m.join_upstreams()
        m.refresh_upstream("toy")
        toy.answers.skills["count"]["SKILL.md"] = document("count", OTHER).encode()
        m.refresh_upstream("toy")
        gone = toy.answers.skills.pop("count")
        m.refresh_upstream("toy")
        absent = usable(m, "toy:count")
        toy.answers.skills["count"] = gone
        m.refresh_upstream("toy")
        back = usable(m, "toy:count")
        gone["SKILL.md"] = first
        m.refresh_upstream("toy")

        assert ("not-found", "ask") == (absent, back)
        assert {"toy:count", "toy:other"} == offered(m)


def test_a_lie_never_gets_in_and_what_is_there_stays(shop: Shop, toy: ToyServer) -> None:
    toy.answers.lies_every = 1
    with shop.open() as m:
        m.join_upstreams()
        lied = m.refresh_upstream("toy")
        assert set() == offered(m)
        toy.answers.lies_every = 0
        m.refresh_upstream("toy")
        toy.answers.skills["count"]["SKILL.md"] = document("count", OTHER).encode()
        toy.answers.lies_every = 1
        m.refresh_upstream("toy")

        assert "Count the words" in usable(m, "toy:count")
    assert {"count": "digest", "other": "digest"} == {
        name: why.partition(":")[0] for name, why in lied.refused
    }


def test_a_server_that_is_down_hangs_or_talks_nonsense_takes_nothing_away(
    shop: Shop, toy: ToyServer
) -> None:
    with shop.open() as m:
        m.join_upstreams()
        m.refresh_upstream("toy")
        toy.raw = b"<html>"
        nonsense = m.refresh_upstream("toy")
        toy.raw, toy.token = None, "wanted-now"
        closed = m.refresh_upstream("toy")
        text = (shop.base / "metier.toml").read_text()
        shop.configure(text.replace("upstream_seconds = 20", "upstream_seconds = 1"))
        m.context.read_settings()
        toy.hang.set()
        hung = m.refresh_upstream("toy")

        assert {"toy:count", "toy:other"} == offered(m)
        assert "Count the words" in usable(m, "toy:count")
    assert ["malformed", "unreachable", "timeout"] == [
        look.trouble.partition(":")[0] for look in (nonsense, closed, hung)
    ]


def test_a_dangerous_skill_of_a_server_reaches_nobody(shop: Shop, toy: ToyServer) -> None:
    toy.answers.skills["count"]["SKILL.md"] = document("count", DANGEROUS).encode()
    with shop.open() as m:
        m.join_upstreams()
        m.refresh_upstream("toy")

        assert {"toy:other"} == offered(m)
        assert "blocked" == usable(m, "toy:count")


TAKEN = [".claude-plugin/plugin.json", "plugin.json", "PLUGIN.json", ".codex-plugin/plugin.json"]


@pytest.mark.parametrize("manifest", TAKEN)
def test_a_skill_cannot_take_another_server_s_name(
    shop: Shop, toy: ToyServer, manifest: str
) -> None:
    toy.answers.skills["count"][manifest] = b'{"name": "bank"}'
    toy.answers.skills["other"][f"inner/{manifest}"] = b'{"name": "bank"}'
    toy.answers.skills["other"]["inner/SKILL.md"] = document("hidden").encode()
    with shop.open() as m:
        m.join_upstreams()
        look = m.refresh_upstream("toy")

        assert {"toy:other"} == {card.name for card in m.skills(all=True)}
    assert ["unsafe-entry"] == [why.partition(":")[0] for _name, why in look.refused]


def test_whoever_changes_a_copy_or_the_record_has_to_ask(shop: Shop) -> None:
    mirror = shop.data / "upstreams/toy"
    with shop.open() as m:
        m.join_upstreams()
        m.refresh_upstream("toy")
    (mirror / "skills/count/scripts/run.sh").write_text("echo mine\n")
    with shop.open() as m:
        m.join_upstreams()
        assert "ask" == usable(m, "toy:count")
        assert "Count the words" in usable(m, "toy:other")
    record = json.loads((mirror / "first-seen.json").read_text())
    for broken in (b"{", json.dumps({**record, "skills": {}}).encode()):
        (mirror / "first-seen.json").write_bytes(broken)
        with shop.open() as m:
            assert "ask" == usable(m, "toy:other")


def test_another_server_under_an_old_name_starts_anew(shop: Shop, toy: ToyServer) -> None:
    with shop.open() as m:
        m.join_upstreams()
        m.refresh_upstream("toy")
    with ToyServer(Answers(skills("count"))) as second, shop.open() as m:
        held = joined_files.hold_mirror(str(shop.data), "toy", None)
        with held as ours, pytest.raises(StoreError) as busy:
            m.join_upstreams([f"toy={second.url}"])
        assert (True, "busy") == (ours, busy.value.code)
        m.join_upstreams([f"toy={second.url}"])
        assert set() == offered(m)
        m.refresh_upstream("toy")
        assert {"toy:count"} == offered(m)
    assert toy.answers.asked


def test_a_skill_that_moves_to_another_uri_is_not_seen_for_the_first_time(
    shop: Shop, toy: ToyServer
) -> None:
    def move(body: str) -> None:
        """Serve it at another URI, with nothing but its document."""
        data = document("count", body)
        digest = hashlib.sha256(data.encode()).hexdigest()
        uri = "skill://new/count/SKILL.md"
        file = {"uri": uri, "digest": f"sha256:{digest}", "size": len(data)}
        entry = {"uri": uri, "frontmatter": {"name": "count"}, "resources": [file]}
        toy.answers.said = {
            "skills/list": {"skills": [entry]},
            "resources/read": {"contents": [{"uri": uri, "text": data}]},
        }

    toy.answers.skills["count"].pop("scripts/run.sh")
    with shop.open() as m:
        m.join_upstreams()
        m.refresh_upstream("toy")
        move(SAFE)
        m.refresh_upstream("toy")
        kept = usable(m, "toy:count")
        move(OTHER)
        m.refresh_upstream("toy")

        assert "Count the words" in kept
        assert "ask" == usable(m, "toy:count")


def test_of_two_skills_with_one_name_only_the_first_counts_as_seen(
    shop: Shop, toy: ToyServer
) -> None:
    texts = {f"skill://{at}/count/SKILL.md": document("count", at + "\n") for at in "abc"}

    def entry(uri: str) -> dict[str, object]:
        data = texts[uri].encode()
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        file = {"uri": uri, "digest": digest, "size": len(data)}
        return {"uri": uri, "frontmatter": {"name": "count"}, "resources": [file]}

    listed = list(texts)
    toy.answers.said = {
        "skills/list": lambda _params: {"skills": [entry(uri) for uri in listed]},
        "resources/read": lambda asked: {"contents": [{"text": texts[asked["uri"]]}]},
    }
    with shop.open() as m:
        m.join_upstreams()
        m.refresh_upstream("toy")
        served = usable(m, "toy:count")
        [first] = [
            uri for uri, text in texts.items() if text.splitlines()[-1] in served.splitlines()
        ]
        listed.remove(first)  # whoever used it must not get another's bytes under its name
        m.refresh_upstream("toy")

        assert "ask" == usable(m, "toy:count")


def test_a_change_that_could_not_be_put_in_place_is_put_there_by_the_next_look(
    shop: Shop, toy: ToyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_words: object) -> None:
        raise StoreError("no space is left", hint="make some")

    for way in ("extension", "plain"):
        toy.answers.way = way
        with shop.open() as m:
            m.join_upstreams()
            m.refresh_upstream("toy")
            toy.answers.skills["count"]["SKILL.md"] = document("count", f"{way}\n").encode()
            with monkeypatch.context() as broken:
                broken.setattr(joined_files, "put_skill", full)
                failed = m.refresh_upstream("toy")
            changed = m.refresh_upstream("toy")

            assert "ask" == usable(m, "toy:count")
        assert failed.trouble
        assert ("count",) == changed.changed


def test_a_server_with_other_names_at_every_look_is_remembered_only_so_far(
    shop: Shop, toy: ToyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(join, "MAX_REMEMBERED_SKILLS", 3)
    with shop.open() as m:
        m.join_upstreams()
        m.refresh_upstream("toy")
        toy.answers.skills = skills("count", "third", "fourth")
        look = m.refresh_upstream("toy")

        assert {"toy:count", "toy:fourth"} == offered(m)
    assert [("third", "too-many")] == [(name, why.partition(":")[0]) for name, why in look.refused]


def test_a_policy_that_asks_about_strangers_asks_about_upstreams(
    shop: Shop, toy: ToyServer
) -> None:
    rule = (
        '[[trust.rules]]\nlevel = "community"\nverdict = "safe"\nphase = "load"\naction = "ask"\n'
    )
    shop.configure((shop.base / "metier.toml").read_text() + rule)
    with shop.open() as m:
        m.join_upstreams()
        m.refresh_upstream("toy")
        assert set() == offered(m)
        m.trust("toy:count", "approve")

        assert {"toy:count"} == offered(m)
    trusted = ["mcp+https://host/mcp"]
    assert "trusted" == level_of_source("mcp+https://host/mcp", trusted)
    for other in ("https://host/mcp", "mcp+http://host/mcp", "mcp+https://host/mcpx", toy.url):
        assert "community" == level_of_source(other, trusted)


def test_a_server_that_a_policy_denies_is_not_asked_at_all(shop: Shop, toy: ToyServer) -> None:
    settings = (shop.base / "metier.toml").read_text()
    shop.configure(f'{settings}[trust]\ndeny_sources = ["{toy.url}"]\n')
    with shop.open() as m:
        m.join_upstreams()
        look = m.refresh_upstream("toy")

    assert look.trouble.startswith("policy: ")
    assert [] == toy.answers.asked


def test_no_server_gets_what_is_another_s(shop: Shop, toy: ToyServer) -> None:
    toy.token = "for-toy"
    with ToyServer(Answers(skills("pdf"), "manifest"), token="for-second") as second:
        shop.configure(
            f'[mcp.upstreams.toy]\nurl = "{toy.url}"\ntoken = "TOY"\n[mcp.upstreams.second]\nurl = "{second.url}"\ntoken = "SECOND"\n'
        )
        shop.env.update(TOY="for-toy", SECOND="for-second")
        with shop.open() as m:
            names = [server.name for server in m.join_upstreams()]
            looks = [m.refresh_upstream(name) for name in names]

            assert {"toy:count", "toy:other", "second:pdf"} == offered(m)
    assert ["", ""] == [look.trouble for look in looks]
    assert "for-second" not in str(toy.heads)
    assert "for-toy" not in str(second.heads)


@pytest.mark.parametrize(
    "said", ["toy", "=https://x/mcp", "A=https://x/mcp", "a b=https://x/mcp", "x=ftp://x", "x=", "x=stdio:"]
)  # fmt: skip
def test_what_is_no_upstream_is_said(shop: Shop, said: str) -> None:
    with shop.open() as m, pytest.raises(UsageError):
        m.join_upstreams([said])


def test_an_upstream_in_the_open_net_is_not_asked_without_encryption(shop: Shop) -> None:
    with shop.open() as m:
        m.join_upstreams(["far=http://192.0.2.1/mcp"])

        assert m.refresh_upstream("far").trouble.startswith("config: ")
