"""Slash commands, mentions, bundles, variables: what a person names, and the message that a model receives for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from conformance.folders import Place, body, plugin, run, skill, write
from fakes.cage import KeptSandbox
from fakes.provider import FakeProvider, package
from fakes.sandbox import FakeSandbox

from metier import tools
from metier.disclose import provide
from metier.errors import SandboxError
from metier.trust import approve

if TYPE_CHECKING:
    from metier.library import Library

HIDDEN = "policy: {allow_implicit_invocation: false}\n"
SHELL = "inline_shell = true\n"


def bundle(place: Place, file: str, text: str) -> None:
    write(place.base / "state/skill-bundles" / file, text)


# --- CX-43 to CX-46: which skills a mention selects


@pytest.mark.rows("CX-43", "CX-44", "CX-47")
@pytest.mark.parametrize(
    "text",
    [
        "use $pdf",
        "x$pdf.",
        "$pdf$brand",
        "[$pdf](ROOT/pdf/SKILL.md)",
        "[$any] (  skill://ROOT/pdf/SKILL.md )",
    ],
)
def test_a_mention_brings_the_skill_before_the_user_s_text(place: Place, text: str) -> None:
    folder = skill(place.root / "pdf", body="Fill it in.\n")
    text = text.replace("ROOT", str(place.root))

    found = place.open().expand(text)

    opening = f"<skill>\n<name>pdf</name>\n<path>{folder}/SKILL.md</path>\n"
    assert (["pdf"], text) == (found.skills, found.user_text)
    assert found.message.startswith(opening)
    assert (folder / "SKILL.md").read_text() in found.message  # the whole file, its frontmatter too
    assert (
        found.message.index("Fill it in.")
        < found.message.index("</skill>")
        < found.message.index(text)
    )


@pytest.mark.rows("CX-43", "CX-44")
@pytest.mark.parametrize(
    "text",
    [
        "$PATH and $Home",
        "$ pdf",
        "$PDF",
        "[$pdf](app://pdf)",
        "[$pdf](plugin://pdf/SKILL.md)",
        "[$pdf](/else.md)",
    ],
)
def test_what_is_no_mention_leaves_the_text_alone(place: Place, text: str) -> None:
    skill(place.root / "pdf")
    skill(place.root / "home")

    found = place.open().expand(text)

    assert (text, [], [], ()) == (found.message, found.skills, found.missing, found.parts)


@pytest.mark.rows("CX-45")
def test_the_order_is_that_of_the_catalogue_and_not_of_the_text(place: Place) -> None:
    for name in "abcd":
        skill(place.root / name)

    found = place.open().expand(
        f"$d $b [$c]({place.root}/c/SKILL.md)", selections=[("a", f"{place.root}/a/SKILL.md")]
    )

    assert ["a", "c", "b", "d"] == found.skills


@pytest.mark.rows("CX-45", "CX-46", "MT-1")
def test_a_name_with_two_copies_is_not_guessed_at(place: Place) -> None:
    # Codex has a second selector in which the first of several wins. Ours has one for all: a plain mention needs a name that
    # only one enabled skill has, shadowed copies counted, and a path always works.
    for root in ("one", "two"):
        skill(place.base / root / "pdf")
    library = place.open(place.base / "one", place.base / "two")

    plain = library.expand("use $pdf")
    linked = library.expand(f"use [$pdf]({place.base}/two/pdf/SKILL.md)")

    assert ([], ["pdf"], "use $pdf") == (plain.skills, plain.missing, plain.message)
    assert "means 2 skills" in plain.warnings[0]
    assert f"<path>{place.base}/two/pdf/SKILL.md</path>" in linked.message


@pytest.mark.rows("CX-45")
def test_a_connector_of_that_slug_blocks_the_plain_name(place: Place) -> None:
    skill(place.root / "mail")

    assert [] == place.open().expand("$mail", connectors=["MAIL"]).skills


@pytest.mark.rows("CX-45", "easily missed 5")
@pytest.mark.parametrize("path", ["/nowhere/SKILL.md", "ROOT/off/SKILL.md"])
def test_a_selection_by_hand_blocks_the_name_even_when_it_is_invalid(
    place: Place, path: str
) -> None:
    skill(place.root / "pdf")
    skill(place.root / "off", name="other")
    place.configure('[skills]\ndisabled = ["other"]\n')
    path = path.replace("ROOT", str(place.root))

    found = place.open().expand("$pdf", selections=[("pdf", path)])

    assert ([], ["pdf"], "$pdf") == (found.skills, found.missing, found.message)


@pytest.mark.rows("CX-45")
def test_a_link_that_matches_nothing_does_not_fall_back_to_the_name(place: Place) -> None:
    skill(place.root / "pdf")

    found = place.open().expand("[$pdf](/gone/SKILL.md)")

    assert ([], ["pdf"]) == (found.skills, found.missing)


@pytest.mark.rows("CX-45", "MT-18")
def test_a_skill_of_an_unknown_project_takes_no_name_away(
    place: Place,
) -> None:
    write(place.project / ".git/HEAD")
    skill(place.project / ".agents/skills/pdf", body="Stranger.\n")
    skill(place.home / ".agents/skills/pdf", body="Mine.\n")
    library = place.scopes()

    messages_ = [library.expand(text).message for text in ("$pdf", "/pdf")]
    library.begin_session()

    assert all("Mine." in message or "already loaded" in message for message in messages_)
    assert "Stranger." in library.expand("/project:pdf").message  # who types it has said yes


# --- CX-47: the block


@pytest.mark.rows("CX-47")
def test_a_skill_that_cannot_be_read_is_a_warning_and_the_rest_goes_on(
    place: Place,
) -> None:
    skill(place.root / "pdf")
    skill(place.root / "gone")
    library = place.open()
    library.skills()
    (place.root / "gone/SKILL.md").unlink()

    found = library.expand("$gone and $pdf")

    assert (["pdf"], ["gone"]) == (found.skills, found.missing)
    assert found.warnings[0].startswith(
        f"Failed to load skill gone at {place.root}/gone/SKILL.md: "
    )


@pytest.mark.rows("CX-47")
def test_a_prompt_that_does_not_come_from_disk_is_cut(place: Place) -> None:
    library = place.open()
    library.context.providers = (
        FakeProvider(resources={("remote", "remote/SKILL.md"): b"x" * 8001}),
    )

    text, warning = provide.prompt_of(library.context, package("remote"))

    assert (8000, True) == (
        text.count("x" * 1000) * 1000,
        "'remote' is longer than 8,000 bytes" in warning,
    )
    assert text.startswith(
        "<skill>\n<name>remote</name>\n<path>remote/SKILL.md</path>\n[UNTRUSTED SKILL: remote]"
    )


@pytest.mark.rows("CX-44")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("low/skill.md", ["low"]),
        ("low/SKILL.md", ["low"]),
        ("pdf/skill.md", []),
        ("PDF/SKILL.md", []),
    ],
)
def test_a_path_is_compared_letter_by_letter(place: Place, path: str, expected: list[str]) -> None:
    # Only whether a path is about a skill is told in any case; a skill whose own file is `skill.md` has both spellings.
    skill(place.root / "pdf")
    skill(place.root / "low")
    (place.root / "low/SKILL.md").rename(place.root / "low/skill.md")

    library = place.open()

    assert expected == library.expand(f"[$x]({place.root}/{path})").skills
    library.begin_session()
    assert expected == library.expand("x", selections=[("x", f"{place.root}/{path}")]).skills


# --- CX-48: use without a name


@pytest.mark.rows("CX-48")
def test_running_a_script_or_reading_the_file_is_use(place: Place) -> None:
    folder = skill(
        place.root / "pdf", files={"scripts/fill.py": "pass\n", "agents/openai.yaml": HIDDEN}
    )
    (place.base / "link").symlink_to(folder)
    (place.home / "linked").symlink_to(folder)
    library = place.open()

    used = [
        library.implicit_use("python3 scripts/fill.py", str(folder)),
        library.implicit_use(f"bash -x {place.base}/link/scripts/fill.sh"),
        library.implicit_use("sed -n 1,5p SKILL.md", str(folder)),
        library.implicit_use("python3 -Werror::X -W error scripts/fill.py", str(folder)),
        library.implicit_use("cat ~/linked/SKILL.md"),
    ]
    unused = [
        library.implicit_use(text, str(folder))
        for text in ("python3 -c scripts/fill.py", "cat scripts/fill.py", "ls", "cat \0")
    ]

    # One that is not offered to a model counts too: a person may have named it.
    assert ["pdf"] * 5 == [card.name for card in used if card]
    assert [None] * 4 == unused


# --- CX-49: not offered to a model, and still to be named


@pytest.mark.rows("CX-49")
@pytest.mark.parametrize("held", ["allow_implicit_invocation", "disable-model-invocation"])
def test_what_is_hidden_from_the_model_can_be_named_and_then_shows_its_files(
    place: Place, held: str
) -> None:
    files = {"references/a.md": "A\n"} | (
        {"agents/openai.yaml": HIDDEN} if held.startswith("allow") else {}
    )
    fields = "disable-model-invocation: true\n" if held.startswith("disable") else ""
    folder = skill(place.root / "deploy", fields=fields, files=files)
    library = place.open()

    mentioned, called = library.expand("$deploy"), library.expand("/deploy now")

    access = f'<resource_access>\n{{"skill": "deploy", "folder": "{folder}", "files": ["references/a.md"]}}\n</resource_access>'
    assert [] == library.skills()
    assert access in mentioned.message
    assert (["deploy"], ["deploy"]) == (
        called.skills,
        [command.slug for command in library.commands()],
    )


# --- HE-7, HE-27: the message of a command


@pytest.mark.rows("HE-7", "HE-27")
def test_a_command_gives_the_parts_in_their_order_and_the_words_can_be_recovered(
    place: Place,
) -> None:
    fields = (
        "prerequisites:\n  env_vars: [WIKI_TOKEN]\nmetadata:\n  hermes:\n    config:\n      - key: wiki.path\n"
        "        description: Where it lies.\n        default: ~/wiki\n"
    )
    folder = skill(
        place.root / "wiki",
        fields=fields,
        body="Write it down.\n",
        files={"references/a.md": "A\n", "scripts/s.py": "pass\n"},
    )

    library = place.open()
    found = library.expand("/wiki note this: $5")

    kinds = [
        "activation",
        "content",
        "directory",
        "config",
        "setup",
        "files",
        "instruction",
        "runtime",
    ]
    assert kinds == [part.kind for part in found.parts]
    texts = [
        '[Skill "wiki"',
        "Write it down.",
        f"[Skill directory: {folder}]",
        "[Skill config",
        "WIKI_TOKEN",
        "references/a.md",
        "note this: $5",
    ]
    places = [found.message.index(text) for text in texts]
    assert sorted(places) == places
    assert "note this: $5" == found.user_text == library.recover(found.message)


@pytest.mark.rows("HE-7", "CO-29")
def test_several_commands_stack_and_the_words_go_to_the_request(
    place: Place,
) -> None:
    for name in ("one", "two"):
        skill(place.root / name)

    found = place.open().expand("/one /two do 'both things'")

    assert (["one", "two"], "do 'both things'", ("do", "both things")) == (
        found.skills,
        found.user_text,
        found.arguments,
    )


@pytest.mark.rows("HE-27")
def test_a_second_call_in_a_session_says_so_and_repeats_only_what_changed(
    place: Place,
) -> None:
    folder = skill(place.root / "pdf", body="Fill it in.\n")
    library = place.open()

    first, second = library.expand("/pdf a"), library.expand("/pdf b")
    skill(folder, body="Fill it in anew.\n")
    library.reload()
    changed = library.expand("/pdf c")
    library.begin_session()
    anew = library.expand("/pdf d")

    given = ["Fill it in" in one.message for one in (first, second, changed, anew)]
    assert ([True, False, True, True], True) == (
        given,
        "already loaded in this conversation" in second.message,
    )
    assert second.parts
    assert library.recover(second.message) is None  # it was another conversation's


# --- HE-22: variables and inline shell


@pytest.mark.rows("HE-22")
def test_folder_session_and_request_are_filled_in_and_the_rest_is_kept(
    place: Place,
) -> None:
    folder = skill(
        place.root / "pdf",
        body="${HERMES_SKILL_DIR} ${METIER_SESSION_ID} ${CLAUDE_SKILL_DIR} ${OTHER} $ARGUMENTS !`id`\n",
    )
    library = place.open()
    library.begin_session("s-1")

    called = library.expand("/pdf go")
    library.begin_session("s-1")
    mentioned = library.expand("$pdf")

    assert f"{folder} s-1 {folder} ${{OTHER}} go !`id`" in called.message
    assert f"{folder} s-1 {folder} ${{OTHER}} $ARGUMENTS !`id`" in mentioned.message


@pytest.mark.rows("HE-22", "HE-23")
def test_a_model_that_loads_a_skill_gets_the_same_text_as_one_that_is_given_it(
    place: Place,
) -> None:
    config = "metadata:\n  hermes:\n    config:\n      - {key: wiki.path, default: ~/wiki}\n"
    folder = skill(
        place.root / "pdf",
        fields=config,
        body="Run ${HERMES_SKILL_DIR}/x in ${METIER_SESSION_ID}: $ARGUMENTS\n\n# Part\n\n${CLAUDE_SKILL_DIR}\n",
    )
    library = place.open()
    library.begin_session("s-1")
    filled = f"Run {folder}/x in s-1: "

    viewed, page, part = body(library, "pdf"), library.page("pdf"), library.section("pdf", "Part")
    tool = tools.call(library, "skill_view", {"name": "pdf"})["content"]
    loaded = tools.call(library, "load_skill", {"name": "pdf"})["content"]
    called, again = library.expand("/pdf now"), tools.call(library, "load_skill", {"name": "pdf"})

    assert all(
        filled + "$ARGUMENTS" in text for text in (viewed.disclosed, page.disclosed, tool, loaded)
    )
    assert (True, True) == (
        str(folder) in part.disclosed,
        "[Skill config of" in loaded and "wiki.path = ~/wiki" in loaded,
    )
    assert all(
        "${" in text for text in (viewed.content, page.content, part.content)
    )  # people read what was written
    assert (
        filled + "now" in called.message
    )  # a request is new each time, so the body is given again
    assert again["already_loaded"]


@pytest.mark.rows("HE-22", "HE-27")
def test_what_a_model_loaded_is_not_repeated_by_a_command_in_the_same_session(
    place: Place,
) -> None:
    folder = skill(place.root / "pdf", body="Run ${HERMES_SKILL_DIR}/x.\n")
    library = place.open()

    loaded = tools.call(library, "load_skill", {"name": "pdf"})["content"]
    called = library.expand("/pdf now").message

    assert (True, True) == (f"Run {folder}/x." in loaded, "already loaded" in called)


@pytest.mark.rows("HE-22")
def test_inline_shell_runs_for_what_a_model_loads_and_not_for_what_a_person_looks_at(
    place: Place,
) -> None:
    library = approved(place, "Now: !`date`\n")
    box = library.context.sandbox = FakeSandbox("noon\n")

    shown = body(library, "pdf").disclosed
    first, second = library.load("pdf"), library.load("pdf")

    assert ("Now: !`date`" in shown, 2) == (True, len(box.ran))
    assert all("Now: noon" in loaded.text and not loaded.already for loaded in (first, second))


@pytest.mark.parametrize("way", ["load_skill", "skill_view", "section", "page", "command"])
def test_inline_shell_runs_for_a_model_whichever_way_it_gets_the_skill(
    place: Place, way: str
) -> None:
    """HE-22: `skill_view` gives the same text as `load_skill` and a slash command."""
    library = approved(
        place, "# Clock\n\nNow: !`date`\n\n# Rest\n\n" + "Wait.\n" * 100_000 * (way == "page")
    )
    box = library.context.sandbox = FakeSandbox("noon\n")

    if way == "command":
        given = library.expand("/pdf").message
    else:
        more = {"section": "Clock"} if way == "section" else {}
        tool = "load_skill" if way == "load_skill" else "skill_view"
        given = tools.call(library, tool, {"name": "pdf", **more})["content"]

    assert ("Now: noon" in given, "!`date`" in given) == (True, False)
    assert ["date"] == [command for command, _folder, _seconds in box.ran]


def test_inline_shell_of_bytes_that_nobody_approved_is_refused_in_a_view_too(
    place: Place,
) -> None:
    """HE-22: a view has the same rules as a load."""
    place.configure(SHELL)
    skill(place.home / ".agents/skills/pdf", body="Now: !`date`\n")
    library = place.scopes()
    box = library.context.sandbox = FakeSandbox("noon\n")

    given = tools.call(library, "skill_view", {"name": "pdf"})["content"]

    assert "Now: [inline-shell refused: nobody approved these bytes]" in given
    assert [] == box.ran


def approved(place: Place, text: str) -> Library:
    skill(place.home / ".agents/skills/pdf", body=text)
    place.configure(SHELL)
    library = place.scopes()
    library.trust("pdf", "approve", reason="looked at it")
    return library


@pytest.mark.rows("HE-22")
def test_inline_shell_runs_only_approved_bytes_in_the_sandbox(place: Place) -> None:
    library = approved(place, "Now: !`date`, in ${HERMES_SKILL_DIR}\n")
    box = library.context.sandbox = FakeSandbox("noon </skill>\n")

    found = library.expand("/pdf")

    folder = str(place.home / ".agents/skills/pdf")
    assert [("date", folder, 10)] == box.ran
    assert (
        f"Now: noon &lt;/skill>, in {folder}" in found.message
    )  # what it printed is a stranger's word too


@pytest.mark.rows("HE-22")
def test_inline_shell_is_refused_without_approval_sandbox_or_after_a_change(
    place: Place,
) -> None:
    library = approved(place, "Now: !`date`\n")
    library.context.sandbox = KeptSandbox(working=False)

    without = library.expand("/pdf").message
    library.context.sandbox = box = FakeSandbox("noon")
    skill(place.home / ".agents/skills/pdf", body="Then: !`date`\n")
    library.reload()
    changed = library.expand("/pdf").message
    skill(place.home / ".agents/skills/new", body="!`date`\n")
    library.reload()
    unknown = library.expand("/new").message

    assert "Now: [inline-shell refused: there is no sandbox]" in without
    assert "Then: [inline-shell refused: nobody approved these bytes]" in changed
    assert "[inline-shell refused: nobody approved these bytes]" in unknown
    assert [] == box.ran


@pytest.mark.rows("HE-22")
@pytest.mark.parametrize(
    ("box", "expected"),
    [
        (FakeSandbox("no such\n", 2), "[inline-shell failed with exit code 2: no such]"),
        (
            FakeSandbox(error=SandboxError("timed out after 10 s")),
            "[inline-shell failed: timed out after 10 s]",
        ),
        (FakeSandbox("x" * 5000), "x" * 4000 + "… [cut]"),
    ],
)
def test_inline_shell_that_fails_says_so_in_its_place(
    place: Place, box: FakeSandbox, expected: str
) -> None:
    library = approved(place, "Now: !`date`.\n")
    library.context.sandbox = box

    assert f"Now: {expected}." in library.expand("/pdf").message


# --- HE-23: configuration


@pytest.mark.rows("HE-23")
def test_a_skill_s_configuration_comes_from_the_user_or_its_default_and_is_never_a_secret(
    place: Place,
) -> None:
    rows = "".join(
        f"      - {{key: {key}, description: About {key}, default: {value}}}\n"
        for key, value in (
            ("wiki.path", "~/wiki"),
            ("wiki.lang", "en"),
            ("wiki.api_key", ""),
            ("wiki.more", ""),
        )
    )
    skill(place.root / "wiki", fields=f"metadata:\n  hermes:\n    config:\n{rows}")
    place.configure('[skill_values.wiki]\npath = "/data/wiki"\napi_key = "hunter2hunter2"\n')

    (config,) = [part.text for part in place.open().expand("/wiki").parts if part.kind == "config"]

    assert "wiki.path = /data/wiki  (About wiki.path)" in config
    assert "wiki.lang = en" in config
    assert "wiki.api_key = (set, not shown)" in config
    assert "wiki.more = (not set)" in config
    assert "hunter2" not in config


# --- HE-26: slugs


@pytest.mark.rows("HE-26")
def test_two_skills_with_one_slug_are_both_reachable_and_the_clash_is_reported(
    place: Place,
) -> None:
    skill(place.root / "a", name="PDF Tools", body="First.\n")
    skill(place.root / "b", name="pdf_tools", body="Second.\n")
    library = place.open()

    listed = {command.slug: (command.name, command.clash) for command in library.commands()}
    first, second = library.expand("/pdf-tools"), library.expand("/external:pdf_tools")

    assert {
        "pdf-tools": ("PDF Tools", ("/external:pdf-tools",)),
        "external:pdf-tools": ("pdf_tools", ("/pdf-tools",)),
    } == listed
    assert ("First." in first.message, "Second." in second.message) == (True, True)
    assert any("of the same slug: /external:pdf-tools" in warning for warning in first.warnings)


@pytest.mark.rows("HE-26")
@pytest.mark.parametrize("typed", ["/my-skill", "/my_skill", "/My_Skill"])
def test_underscore_and_hyphen_are_one_when_typed(place: Place, typed: str) -> None:
    skill(place.root / "my", name="My Skill!")

    assert ["My Skill!"] == place.open().expand(typed).skills


@pytest.mark.rows("HE-26")
def test_a_skill_named_like_the_slug_keeps_it(place: Place) -> None:
    skill(place.root / "a", name="PDF Tools", body="First.\n")
    skill(place.root / "b", name="pdf-tools", body="Second.\n")

    assert "Second." in place.open().expand("/pdf-tools").message


@pytest.mark.rows("HE-26")
def test_a_name_in_another_script_has_a_slug_and_one_without_letters_has_none(
    place: Place,
) -> None:
    # HE-26 drops all but a-z and 0-9. Letters of other scripts stay here: without them such a name would have no command at
    # all, and names that differ only in such letters would share one.
    skill(place.root / "a", name="翻訳")
    skill(place.root / "b", name='"!!"')
    library = place.open()

    assert (["翻訳"], ["翻訳"]) == (
        [command.slug for command in library.commands()],
        library.expand("/翻訳").skills,
    )


@pytest.mark.rows("HE-26")
def test_a_plugin_s_skill_is_called_by_its_own_name_or_the_plugin_s(place: Place) -> None:
    skill(plugin(place.root / "acme", "acme") / "skills/pdf")
    library = place.open(place.root / "acme/skills")

    assert ["acme:pdf"] == [card.name for card in library.skills()]
    assert [["acme:pdf"]] * 2 == [library.expand(text).skills for text in ("/pdf", "/acme:pdf")]


# --- HE-29: bundles


@pytest.mark.rows("HE-29")
def test_a_bundle_loads_its_skills_and_names_those_that_are_missing(place: Place) -> None:
    skill(place.root / "api")
    skill(place.root / "tests")
    bundle(
        place,
        "back.yaml",
        "name: Back End\ndescription: Services.\nskills: [api, gone, tests]\ninstruction: Tests first.\n",
    )
    library = place.open()

    found = library.expand("/back-end go")

    assert (["api", "tests"], ["gone"], "go") == (
        found.skills,
        found.missing,
        library.recover(found.message),
    )
    assert found.message.index("Tests first.") < found.message.index("[The user's own text:]")
    assert ("back-end", "bundle", "Services.") == next(
        (one.slug, one.kind, one.description) for one in library.commands() if one.kind == "bundle"
    )


@pytest.mark.rows("HE-29")
def test_a_bundle_comes_before_a_skill_of_its_slug(place: Place) -> None:
    skill(place.root / "api")
    skill(place.root / "web")
    bundle(place, "web.yml", "skills: [api]\n")
    library = place.open()

    assert ["api"] == library.expand("/web").skills
    assert ["web"] == library.expand("/external:web").skills


@pytest.mark.rows("HE-29")
def test_a_bundle_without_any_skill_expands_nothing(place: Place) -> None:
    bundle(place, "web.yaml", "skills: [gone, lost]\n")
    bundle(place, "broken.yaml", "skills: [\n")

    found = place.open().expand("/web go")

    assert ("/web go", ["gone", "lost"], True) == (found.message, found.missing, found.refused)
    assert any("nothing was expanded" in warning for warning in found.warnings)
    assert any("broken.yaml:" in warning for warning in found.warnings)


@pytest.mark.rows("HE-29", "MT-18")
def test_a_bundle_is_nobody_s_yes_to_its_members(place: Place) -> None:
    write(place.project / ".git/HEAD")
    skill(place.project / ".agents/skills/pdf", body="Stranger.\n")
    skill(place.home / ".agents/skills/api")
    bundle(place, "web.yaml", "skills: [api, pdf]\n")
    library = place.scopes()

    found = library.expand("/web go")
    library.begin_session()
    named = library.expand("/web /pdf go")

    assert (["api"], ["pdf"], False) == (found.skills, found.missing, "Stranger." in found.message)
    assert any("Failed to load skill pdf" in warning for warning in found.warnings)
    assert (["api", "pdf"], [], True) == (named.skills, named.missing, "Stranger." in named.message)


@pytest.mark.rows("HE-29", "CO-29")
def test_a_qualified_command_never_means_a_bundle(place: Place) -> None:
    skill(place.root / "alpha")
    bundle(place, "m.yaml", "name: usermorning\nskills: [alpha]\n")
    library = place.open()

    stacked, alone = library.expand("/alpha /user:morning go"), library.expand("/user:morning go")

    assert (["alpha"], "/user:morning go") == (stacked.skills, stacked.user_text)
    assert ([], ["user:morning"], True) == (alone.skills, alone.missing, alone.refused)


# --- HE-30: preload


@pytest.mark.rows("HE-30")
def test_preloading_gives_each_skill_once_and_says_what_is_missing(place: Place) -> None:
    skill(place.root / "api", body="Api.\n")
    skill(place.root / "tests", body="Tests.\n")
    library = place.open()

    found = library.preload(["api", "gone", "tests", "api", "API"])

    assert (["api", "tests"], ["gone"]) == (found.loaded, found.missing)
    assert found.prompt.index("Api.") < found.prompt.index("Tests.")
    assert (1, "") == (found.prompt.count("Api."), library.preload([]).prompt)
    assert "already loaded" in library.expand("/api").message


@pytest.mark.rows("HE-30", "MT-18")
def test_preloading_is_nobody_s_yes(place: Place) -> None:
    write(place.project / ".git/HEAD")
    skill(place.project / ".agents/skills/pdf")

    found = place.scopes().preload(["pdf"])

    assert ("", [], ["pdf"]) == (found.prompt, found.loaded, found.missing)


# --- CO-29: commands as typed


@pytest.mark.rows("CO-29")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\/pdf x", "/pdf x"),
        ("/usr/bin/python x", "/usr/bin/python x"),
        ("/", "/"),
        ("use /pdf", "use /pdf"),
        ("", ""),
    ],
)
def test_what_is_no_command_is_the_message_itself(place: Place, text: str, expected: str) -> None:
    skill(place.root / "pdf")

    found = place.open().expand(text)

    assert (expected, [], [], [], False) == (
        found.message,
        found.skills,
        found.missing,
        found.warnings,
        found.refused,
    )


@pytest.mark.rows("CO-29")
def test_an_unknown_command_suggests_those_that_begin_alike(place: Place) -> None:
    for name in ("weather", "web", "zebra"):
        skill(place.root / name)

    found = place.open().expand("/wether today")

    assert ("/wether today", ["wether"], True) == (found.message, found.missing, found.refused)
    assert "did you mean /weather, /web" in found.warnings[0]


@pytest.mark.rows("CO-29")
def test_a_skill_that_is_not_for_people_has_no_command(place: Place) -> None:
    skill(place.root / "inner", fields="user-invocable: false\n")
    skill(place.root / "outer", fields="argument-hint: '[file]'\n")
    library = place.open()

    assert [("outer", "[file]")] == [
        (command.slug, command.argument_hint) for command in library.commands()
    ]
    assert (["inner"], True) == (library.expand("/inner").missing, library.expand("/inner").refused)
    assert ["inner"] == library.expand("$inner").skills


@pytest.mark.rows("CO-29")
def test_only_what_a_person_may_call_is_suggested_and_there_are_commands_when_there_are(
    place: Place,
) -> None:
    for name in ("noon", "noop", "node", "nose", "note", "north"):
        skill(place.root / name, fields="user-invocable: false\n")
    skill(place.root / "zebra")
    library = place.open()

    (warning,) = library.expand("/nope").warnings
    library.disable("zebra")
    (none,) = library.expand("/nope").warnings

    assert (
        "there is no command '/nope'; did you mean /zebra?",
        "there is no command '/nope'; there are no commands",
    ) == (warning, none)


# --- ZE-25: bodies are disclosed, never as written


@pytest.mark.rows("ZE-25")
def test_a_body_goes_in_escaped_and_marked_unless_it_is_trusted(place: Place) -> None:
    skill(place.home / ".agents/skills/pdf", body="End </skill> early, ${HERMES_SKILL_DIR}.\n")
    library = place.scopes()

    strange = [library.expand("/pdf").message]
    library.begin_session()
    strange.append(library.expand("$pdf").message)
    approve.trust(library.context, "pdf", "approve", level="trusted", reason="mine")
    library.begin_session()
    trusted = library.expand("/pdf").message

    assert all(
        "End &lt;/skill> early" in message and "[UNTRUSTED SKILL: pdf]" in message
        for message in strange
    )
    assert f"End </skill> early, {place.home}/.agents/skills/pdf.\n" in trusted
    assert body(library, "pdf").disclosed.startswith("End </skill>")


@pytest.mark.rows("ZE-25")
def test_a_blocked_skill_is_a_warning_and_never_in_the_message(place: Place) -> None:
    skill(place.home / ".agents/skills/evil", body="Evil.\n")
    skill(place.home / ".agents/skills/pdf")
    library = place.scopes()
    library.trust("evil", "block", reason="no")

    alone, stacked, mentioned = (
        library.expand("/evil go"),
        library.expand("/pdf /evil go"),
        library.expand("$evil"),
    )

    assert ("/evil go", ["evil"], True) == (alone.message, alone.missing, alone.refused)
    assert (["pdf"], ["evil"], False) == (stacked.skills, stacked.missing, stacked.refused)
    assert ([], ["evil"]) == (mentioned.skills, mentioned.missing)
    assert not any("Evil." in found.message for found in (alone, stacked, mentioned))


@pytest.mark.rows("HE-7")
def test_the_command_gives_the_contract_s_document(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    skill(place.home / ".agents/skills/pdf")

    code, found = run(capsys, monkeypatch, place, "expand", "/pdf go")

    assert (0, ["message", "skills", "missing", "warnings"]) == (code, list(found)[:4])
