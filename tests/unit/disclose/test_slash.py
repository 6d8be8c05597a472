"""Slash commands: what is one, how several stack, and which skill each means when several share a slug."""

from __future__ import annotations

import pytest

from metier.disclose import slash
from metier.disclose.slash import Menu, MenuCommand, Nameable, Typed

KNOWN = frozenset({"pdf", "brand"})


def skill(
    slug: str,
    path: str = "",
    *,
    scope: str = "user",
    plugin: str = "",
    rank: int = 0,
    copy: bool = False,
    exact: bool = False,
) -> Nameable:
    return Nameable(slug, scope, plugin, path or f"/skills/{slug}", rank, copy, exact)


def anybody(_skill: Nameable) -> bool:
    return True


def found(menu: Menu, typed: str) -> str | None:
    command = slash.look_up(menu, typed, anybody)
    return command.skill.path if command else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/pdf", Typed(("pdf",), "")),
        ("/pdf fill it in", Typed(("pdf",), "fill it in")),
        ("  /pdf   fill  it", Typed(("pdf",), "fill  it")),
        ("/pdf\n    indented\n", Typed(("pdf",), "    indented\n")),
        ("/pdf /brand do it", Typed(("pdf", "brand"), "do it")),
        ("/pdf\n/brand\ndo it", Typed(("pdf", "brand"), "do it")),
        ("/pdf /nope do it", Typed(("pdf",), "/nope do it", "nope")),
        ("/nope /pdf", Typed(("nope",), "/pdf")),
        ("/pdf /usr/bin/python x", Typed(("pdf",), "/usr/bin/python x")),
        ("/?", Typed(("?",), "")),
        ("/usr/bin/python x", Typed((), "/usr/bin/python x")),
        ("/pdf.txt is full", Typed((), "/pdf.txt is full")),
        ("/pdf, please", Typed((), "/pdf, please")),
        ("/", Typed((), "/")),
        ("/ pdf", Typed((), "/ pdf")),
        ("", Typed((), "")),
        ("use /pdf", Typed((), "use /pdf")),
        ("//pdf", Typed((), "//pdf")),
        ("/" + "a" * 257, Typed((), "/" + "a" * 257)),
    ],
)
def test_commands_stand_at_the_start_of_a_message(text: str, expected: Typed) -> None:
    typed = slash.read_commands(text, KNOWN.__contains__)

    assert expected == typed


def test_only_so_many_commands_stack() -> None:
    typed = slash.read_commands("/pdf " * 20 + "go", KNOWN.__contains__)

    assert (slash.MAX_STACKED, "/pdf /pdf /pdf /pdf go") == (len(typed.commands), typed.request)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\/pdf x", "/pdf x"),
        (r"  \/pdf", "  /pdf"),
        (r"\\/pdf", r"\/pdf"),
        ("/pdf", None),
        (r"\\server/share", None),
        (r"x \/pdf", None),
        ("", None),
    ],
)
def test_a_backslash_before_the_slash_is_taken_off_and_nothing_else(
    text: str, expected: str | None
) -> None:
    assert expected == slash.unescaped(text)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("a 'b c' d", ("a", "b c", "d")),
        ("it's fine", ("it's", "fine")),
        ("", ()),
        ("x " * 9000, ("x",) * 9000),
    ],
)
def test_arguments_are_split_as_a_shell_does_or_at_spaces(
    request_: str, expected: tuple[str, ...]
) -> None:
    assert expected == slash.arguments(request_)


@pytest.mark.parametrize(
    ("name", "plugin", "expected"),
    [
        ("PDF Tools_now", "", "pdf-tools-now"),
        ("a--b!", "", "a-b"),
        ("Übersetzer", "", "übersetzer"),
        ("翻訳", "", "翻訳"),
        ("acme:pdf", "acme", "pdf"),
        ("!!!", "", ""),
    ],
)
def test_a_slug_keeps_letters_of_every_script(name: str, plugin: str, expected: str) -> None:
    assert expected == slash.slug_of(name, plugin)


@pytest.mark.parametrize("typed", ["pdf-tools", "pdf_tools", "PDF-Tools", "Pdf_Tools"])
def test_underscore_and_hyphen_and_case_are_alike_when_typed(typed: str) -> None:
    menu = slash.menu_of([skill("pdf-tools")])

    assert "/skills/pdf-tools" == found(menu, typed)


def test_all_skills_with_one_slug_are_reachable_and_say_so() -> None:
    menu = slash.menu_of(
        [
            skill("pdf", "/a"),
            skill("pdf", "/b", scope="project"),
            skill("pdf", "/c", scope="plugin", plugin="acme"),
            skill("pdf", "/d", scope="project"),
            skill("pdf-2", "/e"),
        ]
    )

    forms = {
        command.form: (command.skill.path, command.clash)
        for command in slash.commands_of(menu, "pdf", anybody)
    }

    others = ["/pdf", "/project:pdf", "/acme:pdf", "/pdf-3"]
    assert {"pdf": "/a", "project:pdf": "/b", "acme:pdf": "/c", "pdf-3": "/d"} == {
        form: path for form, (path, _) in forms.items()
    }
    assert all(
        clash == tuple(one for one in others if one != f"/{form}")
        for form, (_, clash) in forms.items()
    )
    assert ["/a", "/b", "/c", "/d", "/e"] == [
        found(menu, name) for name in ("pdf", "project:pdf", "ACME:pdf", "pdf-3", "pdf-2")
    ]


def test_what_still_asks_never_takes_a_command_from_what_is_free() -> None:
    menu = slash.menu_of(
        [skill("pdf", "/stranger", scope="project", rank=1), skill("pdf", "/mine")]
    )

    assert ("/mine", "/stranger") == (found(menu, "pdf"), found(menu, "project:pdf"))


def test_the_skill_whose_name_is_the_slug_comes_first_among_its_equals() -> None:
    spelt = [skill("pdf-tools", "/PDF Tools"), skill("pdf-tools", "/pdf-tools", exact=True)]
    asking = [skill("pdf-tools", "/free"), skill("pdf-tools", "/asks", rank=1, exact=True)]

    assert ("/pdf-tools", "/PDF Tools") == (
        found(slash.menu_of(spelt), "pdf-tools"),
        found(slash.menu_of(spelt), "user:pdf-tools"),
    )
    assert "/free" == found(slash.menu_of(asking), "pdf-tools")


def test_a_bundle_takes_the_plain_form_from_a_skill() -> None:
    menu = slash.menu_of([skill("pdf")], ["pdf"])

    (command,) = slash.commands_of(menu, "pdf", anybody)

    assert MenuCommand("user:pdf", skill("pdf"), ("/pdf",)) == command


def test_a_copy_that_another_shadows_is_meant_only_by_a_qualified_form() -> None:
    menu = slash.menu_of([skill("pdf", "/mine", scope="project"), skill("pdf", "/copy", copy=True)])

    assert ("/mine", "/copy") == (found(menu, "pdf"), found(menu, "user:pdf"))
    assert ["pdf"] == [command.form for command in slash.commands_of(menu, "pdf", anybody)]


def test_what_is_held_back_has_no_command_but_is_found_by_its_name() -> None:
    menu = slash.menu_of([skill("evil", rank=3)])

    assert ([], "/skills/evil") == (slash.commands_of(menu, "evil", anybody), found(menu, "evil"))


def test_what_people_may_not_call_leaves_its_command_to_the_next() -> None:
    menu = slash.menu_of([skill("pdf", "/internal"), skill("pdf", "/mine")])

    command = slash.look_up(menu, "pdf", lambda one: one.path != "/internal")

    assert command is not None
    assert "/mine" == command.skill.path


@pytest.mark.parametrize("typed", ["nope", "nope:pdf", "pdf-9", "?", ":", "pdf:"])
def test_an_unknown_command_means_nothing(typed: str) -> None:
    assert found(slash.menu_of([skill("pdf"), skill("")]), typed) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("true", True),
        ("Yes", True),
        ("", True),
        ("false", False),
        ("no", False),
        ("maybe", False),
        ([], False),
        ({}, False),
    ],
)
def test_user_invocable_that_cannot_be_read_restricts(value: object, expected: bool) -> None:
    assert expected == slash.is_for_people({"user-invocable": value})
    assert slash.is_for_people({})


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("pdx", ["pdf", "pdf-forms"]),
        ("pfd", ["pdf"]),
        ("brnad", ["brand"]),
        ("forms", ["pdf-forms"]),
    ],
)
def test_suggestions_begin_alike_or_come_near_and_nothing_else_is_named(
    typed: str, expected: list[str]
) -> None:
    assert expected == slash.suggestions(typed, ["brand", "pdf", "pdf-forms", "zebra"])


def test_a_thousand_skills_with_one_slug_are_told_apart() -> None:
    menu = slash.menu_of(skill("pdf", f"/{number}") for number in range(1000))

    commands = slash.commands_of(menu, "pdf", anybody)

    assert 1000 == len({command.form for command in commands})
    assert all(len(command.clash) <= slash.MAX_NAMED_CLASHES for command in commands)
