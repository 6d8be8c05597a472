"""What a connected client is given while skills, decisions and the machine change."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fakes.codeskills import Calling
from fakes.embedder import GroupEmbedder
from fakes.served import Place

from metier.find import refresh
from metier.mcp import copies, tools
from metier.mcp.server import make_server
from metier.mcp.sessions import Conversation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Home, Writer

    from metier.mcp.copies import SkillCopy
    from metier.mcp.server import SkillServer
    from metier.model import Card

    Serve = Callable[..., SkillServer]

NEEDY = "---\nname: needy\ndescription: Does thing.\nrequired_environment_variables: [SOME_API_KEY, OTHER_KEY]\n---\n\nDo.\n"


@pytest.fixture
def place(home: Home, tmp_path: Path, skill: Writer) -> Place:
    """Give an empty place."""
    return Place(home, tmp_path, skill)


@pytest.fixture
def serve(place: Place) -> Iterator[Serve]:
    """Give what serves the place; the configuration is written by then."""
    with ExitStack() as opened:

        def served(*roots: str, scripts: bool = True) -> SkillServer:
            library = opened.enter_context(place.open(*roots))
            library.context.sandbox = Calling()
            return make_server(library, scripts=scripts)

        yield served


def told(
    serving: SkillServer, tool: str, talk: Conversation | None = None, /, **arguments: Any
) -> dict[str, Any]:
    """Call a tool; give its answer as data."""
    found = serving.tools.call(tool, arguments, talk)["structuredContent"]
    assert isinstance(found, dict)
    return found


def code_of(found: dict[str, Any]) -> str:
    error = found.get("error")
    return str(error["code"]) if isinstance(error, dict) else ""


# --- running


@pytest.mark.parametrize(
    ("config", "destructive", "code"),
    [
        ("run = true", False, "ask"),
        ("run = true\ndestructive = true", False, "ask"),
        ("run = true\ndestructive = true", True, "consent"),
    ],
)
def test_what_configuration_says_of_destructive_skills_is_no_yes_to_one_that_policy_asks_about(
    place: Place, serve: Serve, config: str, destructive: bool, code: str
) -> None:
    # CO-18
    place.code("mover", expose=True, destructive=destructive)
    place.config.write_text(f"[mcp]\n{config}\n")

    found = told(serve(), "run_skill_script", name="mover", script="move it")

    assert code == code_of(found)


def test_configuration_lets_agents_run_a_destructive_skill_that_is_trusted(
    place: Place, serve: Serve
) -> None:
    # CO-18, CO-21
    place.code("mover", expose=True, destructive=True)
    place.config.write_text("[mcp]\nrun = true\ndestructive = true\n")
    serving = serve()
    serving.library.trust("mover", "approve")

    found = told(serving, "run_skill_script", name="mover", script="move it")

    assert ("", "move it") == (code_of(found), found.get("result"))


# --- loading


def test_what_is_missing_is_said_as_text_too_and_is_found_out_each_time(
    place: Place, serve: Serve
) -> None:
    place.write("skills/needy", text=NEEDY)
    serving = serve()

    first = serving.tools.call("load_skill", {"name": "needy"}, None)
    serving.library.vault().put("SOME_API_KEY", "s3cret-value-of-it", "file")
    second = serving.tools.quick("load_skill", {"name": "needy"}, None) or serving.tools.call(
        "load_skill", {"name": "needy"}, None
    )

    assert "Missing: env: SOME_API_KEY, OTHER_KEY" in first["content"][-1]["text"]
    assert ["OTHER_KEY"] == second["structuredContent"]["missing"]["env"]


def test_a_client_waits_for_no_vectors_and_has_them_made_in_the_background(
    place: Place, serve: Serve
) -> None:
    for number in range(refresh.MAX_VECTORS_AT_ONCE + 1):
        place.write(f"skills/thing-{number}", description=f"Does thing number {number}.")
    serving = serve()
    context = serving.library.context
    context.embedder = GroupEmbedder()
    asked: list[str] = []
    context.in_background = lambda work: asked.append(work.__name__)

    found = told(serving, "search_skills", query="thing number 3")

    assert ("thing-3", 0) == (found["hits"][0]["name"], context.embedder.embedded)
    assert "_prepare" in asked


def test_a_skill_that_was_decided_about_again_is_loaded_again(place: Place, serve: Serve) -> None:
    place.write("skills/fine")
    serving = serve()
    told(serving, "load_skill", name="fine")
    known = serving.tools.quick("load_skill", {"name": "fine"}, None)
    serving.served.forget()
    told(serving, "search_skills", query="does one thing")

    found = serving.tools.quick("load_skill", {"name": "fine"}, None)

    assert (True, None) == (known is not None, found)


def test_keys_and_signatures_count_as_decisions(place: Place, serve: Serve) -> None:
    place.write("skills/fine")
    stock = serve().served
    before = stock.now().generation
    (Path(place.home.env["METIER_HOME"]) / "keys").mkdir(parents=True)

    after = stock.now().generation

    assert before < after


def test_a_look_that_finds_nothing_new_is_no_news(place: Place, serve: Serve) -> None:
    place.write("skills/fine")
    stock = serve().served
    before = stock.now().generation
    stock.library.reload(deep=True)

    assert before == stock.now().generation


def test_a_number_that_is_whole_is_taken_for_one(place: Place, serve: Serve) -> None:
    place.write("skills/fine")
    place.write("skills/other")

    found = told(serve(), "search_skills", query="does one thing", limit=1.0)

    assert 1 == found["count"]


# --- the revision that a conversation has


def test_a_name_that_means_another_skill_by_now_still_means_the_one_that_was_loaded(
    place: Place, serve: Serve
) -> None:
    place.skill("skills/dup", f_txt="of the one loaded")
    (place.folder / "first").mkdir()
    place.config.write_text("[mcp]\nrun = true\n")
    serving, talk = serve("first", "skills"), Conversation()
    told(serving, "load_skill", talk, name="dup")
    place.skill("first/dup", f_txt="of the other")
    serving.library.reload()

    kept = told(serving, "read_skill_file", talk, name="dup", path="f.txt")
    ran = told(serving, "run_skill_script", talk, name="dup", script="f.txt")
    again = told(serving, "load_skill", talk, name="dup")
    new = told(serving, "read_skill_file", talk, name="dup", path="f.txt")

    assert "of the one loaded" in kept["content"]
    assert "revision-gone" == code_of(ran)
    assert again["changed"]
    assert "of the other" in new["content"]


@pytest.mark.parametrize(("blocked", "code"), [(False, ""), (True, "revision-gone")])
def test_a_skill_that_has_gone_is_read_as_it_was_until_something_is_decided(
    place: Place, serve: Serve, blocked: bool, code: str
) -> None:
    folder = place.skill("skills/gone", f_txt="still here")
    place.write("skills/other")
    serving, talk = serve(), Conversation()
    told(serving, "load_skill", talk, name="gone")
    for file in ("f.txt", "SKILL.md"):
        (folder / file).unlink()
    folder.rmdir()
    if blocked:
        serving.library.trust("other", "block")
    serving.library.reload()

    found = told(serving, "read_skill_file", talk, name="gone", path="f.txt")

    assert code == code_of(found)
    assert blocked or "still here" in found["content"]


# --- files


def test_a_blocked_skill_is_not_read_through_the_one_that_holds_it(
    place: Place, serve: Serve
) -> None:
    # CO-21
    place.skill("skills/wrap", open_txt="open")
    place.skill("skills/wrap/sub/payroll", pay_txt="secret")
    place.config.write_text('[mcp]\nblocked = ["payroll"]\n')
    serving = serve()

    loaded = told(serving, "load_skill", name="wrap")
    tried = [
        told(serving, "read_skill_file", name="wrap", path=f"sub/payroll/{file}")
        for file in ("pay.txt", "SKILL.md")
    ]
    listed = [entry["frontmatter"]["name"] for entry in serving.files.listed(None)["skills"]]
    opened = told(serving, "read_skill_file", name="wrap", path="open.txt")

    assert "" == code_of(loaded)
    assert ["mcp-blocked", "mcp-blocked"] == [code_of(one) for one in tried]
    assert [] == listed
    assert "open" in opened["content"]


@pytest.mark.parametrize("how", ["by configuration", "by decision"])
def test_a_blocked_skill_is_reached_neither_by_running_nor_over_links_nor_once_all_has_gone(
    place: Place, serve: Serve, how: str
) -> None:
    # CO-21
    folder = place.skill("skills/wrap", open_txt="open")
    inner = place.skill("skills/wrap/sub/payroll", pay_txt="secret", scripts__p_py="print('ran')\n")
    (folder / "pl").symlink_to("sub/payroll")
    (folder / "sl.txt").symlink_to("sub/payroll/pay.txt")
    place.config.write_text(
        "[mcp]\nrun = true\n" + ('blocked = ["payroll"]\n' if how == "by configuration" else "")
    )
    serving, talk = serve(), Conversation()
    serving.library.trust("wrap", "approve")
    if how == "by decision":
        serving.library.trust(str(inner), "block")
    serving.library.reload()
    paths = ("sub/payroll/pay.txt", "pl/pay.txt", "sl.txt")

    before = [code_of(told(serving, "read_skill_file", name="wrap", path=path)) for path in paths]
    loaded = told(serving, "load_skill", talk, name="wrap")
    after = [
        code_of(told(serving, "read_skill_file", talk, name="wrap", path=path)) for path in paths
    ]
    ran = [
        code_of(told(serving, "run_skill_script", talk, name="wrap", script=script))
        for script in ("sub/payroll/scripts/p.py", "pl/scripts/p.py")
    ]
    folder.rename(place.folder / "elsewhere")
    serving.library.reload()
    gone = [
        code_of(told(serving, "read_skill_file", talk, name="wrap", path=path)) for path in paths
    ]

    assert "" == code_of(loaded)
    assert ["mcp-blocked"] * 3 == before == after
    assert ["mcp-blocked"] * 2 == ran
    assert ["revision-gone"] * 3 == gone


def test_what_a_name_gave_last_is_what_a_load_is_held_against(place: Place, serve: Serve) -> None:
    place.skill("skills/dup", f_txt="old")
    (place.folder / "first").mkdir()
    serving, talk = serve("first", "skills"), Conversation()
    told(serving, "load_skill", talk, name="dup")
    new = place.write(
        "first/dup", text="---\nname: dup\ndescription: Does thing.\n---\n\nOtherwise.\n"
    )
    serving.library.reload()
    told(serving, "load_skill", talk, name="dup")
    (new / "SKILL.md").unlink()
    serving.library.reload()

    found = told(serving, "load_skill", talk, name="dup")

    assert (True, False) == (found["changed"], found["already_loaded"])


def test_who_is_let_in_while_something_is_decided_is_not_remembered(
    place: Place, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("skills/fine")
    serving = serve()

    def slowly(card: Card) -> SkillCopy:
        serving.library.trust("fine", "block")
        return copies.copy_skill(card)

    monkeypatch.setattr(tools, "copy_skill", slowly)
    told(serving, "load_skill", name="fine")

    found = serving.tools.quick("load_skill", {"name": "fine"}, None) or serving.tools.call(
        "load_skill", {"name": "fine"}, None
    )

    assert found["isError"]


def test_links_inside_a_skill_are_read_alike_before_and_after_it_is_loaded(
    place: Place, serve: Serve
) -> None:
    folder = place.skill("skills/linked", references__a_md="the a", references__deep__b_md="the b")
    (folder / "dir").symlink_to("references")
    (folder / "again").symlink_to("dir/deep")
    (folder / "file.md").symlink_to("again/b.md")
    serving, talk = serve(), Conversation()
    paths = ("dir/a.md", "again/b.md", "file.md", "dir/deep/b.md")

    before = [
        told(serving, "read_skill_file", talk, name="linked", path=path)["content"]
        for path in paths
    ]
    told(serving, "load_skill", talk, name="linked")
    after = [
        told(serving, "read_skill_file", talk, name="linked", path=path)["content"]
        for path in paths
    ]
    listed = serving.files.got("skill://linked/SKILL.md")["skill"]["resources"]
    inside = serving.files.folder("skill://linked/dir", None)["resources"]

    assert before == after
    assert all(
        text in said for text, said in zip(("the a", "the b", "the b", "the b"), after, strict=True)
    )
    assert {"skill://linked/dir/a.md", "skill://linked/again/b.md"} <= {
        one["uri"] for one in listed
    }
    assert ["a.md", "deep"] == [one["name"] for one in inside]


def test_a_file_of_several_pages_says_in_its_text_that_it_goes_on(
    place: Place, serve: Serve
) -> None:
    place.skill(
        "skills/long", big_txt="".join(f"line {number} of the table\n" for number in range(40_000))
    )
    serving = serve()

    found = serving.tools.call("read_skill_file", {"name": "long", "path": "big.txt"}, None)

    assert found["structuredContent"]["next_cursor"] in found["content"][-1]["text"]


def test_a_script_that_only_its_first_line_makes_one_is_a_script(
    place: Place, serve: Serve
) -> None:
    place.write("skills/plain")
    place.skill("skills/shebang", run="#!/usr/bin/env python3\nprint(1)\n")

    found = told(serve(scripts=False), "search_skills", query="does one thing")

    assert ["plain"] == [hit["name"] for hit in found["hits"]]


def test_a_refusal_by_uri_says_as_much_as_one_by_name_and_is_noted_down(
    place: Place, serve: Serve
) -> None:
    place.write("skills/fine")
    serving = serve()
    serving.library.trust("fine", "block")
    by_name = told(serving, "load_skill", name="fine")["error"]["message"]

    with pytest.raises(Exception, match="blocked") as caught:
        serving.files.got("skill://fine/SKILL.md")

    assert by_name == str(caught.value)
    assert "refuse" == serving.library.audit_tail(1)[0]["event"]


# --- prompts


def test_prompts_whose_names_would_be_alike_are_told_apart(place: Place, serve: Serve) -> None:
    # CO-21
    for name, body in (("天气", "of the weather"), ("新闻", "of the news"), ("café", "of coffee")):
        place.write(
            f"skills/{name}",
            text=f"---\nname: {name}\ndescription: Does {body}.\n---\n\nAll {body}.\n",
        )
    serving = serve()

    prompts = {one["title"]: one["name"] for one in serving.prompts.listed(None)["prompts"]}
    given = {
        title: serving.prompts.got(name, {}, None)["messages"][0]["content"]["text"]
        for title, name in prompts.items()
    }

    assert 3 == len(set(prompts.values()))
    assert "caf_" == prompts["café"]
    assert all(name.isascii() for name in prompts.values())
    assert "of the weather" in given["天气"]
    assert "of the news" in given["新闻"]


def test_a_prompt_that_its_author_took_back_is_not_listed_any_more(
    place: Place, serve: Serve
) -> None:
    folder = place.write(
        "skills/callme",
        text="---\nname: callme\ndescription: Does thing.\nargument-hint: one\n---\n\nDo.\n",
    )
    serving = serve()
    before = serving.prompts.listed(None)["prompts"]
    text = "---\nname: callme\ndescription: Does thing.\nargument-hint: two\nuser-invocable: false\n---\n\nDo.\n"
    (folder / "SKILL.md").write_text(text)

    after = serving.prompts.listed(None)["prompts"]

    assert ["one"] == [one["arguments"][0]["description"] for one in before]
    assert [] == after


def test_a_file_that_another_skill_serves_is_no_refusal_of_the_one_it_lies_in(
    place: Place, serve: Serve
) -> None:
    place.write("skills/outer")
    place.write("skills/outer/inner", text="---\nname: inner\ndescription: ''\n---\n\nDo.\n")
    serving = serve()
    before = len(serving.library.audit_tail(50))

    found = serving.files.read("skill://outer/inner/SKILL.md")

    assert "Do." in found["contents"][0]["text"]
    assert [] == [
        event for event in serving.library.audit_tail(50)[before:] if event["event"] == "refuse"
    ]
