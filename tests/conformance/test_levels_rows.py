"""Levels, pages, providers and counts as three skill systems knew them, held through the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from conformance.folders import Place, body, skill, write
from fakes.provider import FakeProvider, package

import metier
from metier.disclose import provide, read
from metier.usage import counter

if TYPE_CHECKING:
    from metier.library import Library

HALF = 512 * 1024
STALE = "cursor is stale; restart from the first page"


class Characters:
    """Counts a token for every character."""

    def count(self, text: str) -> int:
        """Count."""
        return len(text)


def served(place: Place, *providers: Any) -> Library:
    """Open a library with providers and no skill of its own."""
    library = place.open()
    library.context.providers = providers
    return library


# --- Codex: providers


@pytest.mark.rows("CX-58")
def test_what_a_provider_lists_is_read_through_that_one_alone(place: Place) -> None:
    resources = {("pdf", "pdf/SKILL.md"): b"mine"}
    providers = [
        FakeProvider([[package("pdf", name)]], resources, name)
        for name in ("host", "executor", "orchestrator", "custom:mcp")
    ]
    library = served(place, *providers)

    found = library.packages()
    read = [provide.read_package(library.context, one).content for one in found.packages]

    assert ["host", "executor", "orchestrator", "custom:mcp"] == [
        one.authority for one in found.packages
    ]
    assert ["mine"] * 4 == read
    assert [1] * 4 == [len(provider.reads) for provider in providers]


@pytest.mark.rows("CX-58")
def test_packages_are_told_apart_by_authority_and_id(place: Place) -> None:
    library = served(
        place,
        FakeProvider([[package("a"), package("a")]]),
        FakeProvider([[package("a", "executor")]], authority="executor"),
    )

    assert [("host", "a"), ("executor", "a")] == [one[:2] for one in library.packages().packages]


@pytest.mark.rows("CX-58")
def test_warnings_are_at_most_four_of_256_bytes(place: Place) -> None:
    library = served(place, FakeProvider([[package("x" * 3000, name="é" * 900) for _ in range(9)]]))

    warnings = library.packages().warnings

    assert 4 == len(warnings)
    assert all(len(text.encode()) <= 256 for text in warnings)


@pytest.mark.rows("CX-59")
def test_a_list_comes_twenty_at_a_time_and_a_resource_in_pages_of_512_kib(
    place: Place,
) -> None:
    text = "x" * (HALF + 1)
    library = served(
        place,
        FakeProvider(
            [[package(f"p{n}") for n in range(25)]], {("p0", "p0/SKILL.md"): text.encode()}
        ),
    )

    found = library.packages()
    first, page = found.page(), provide.read_package(library.context, package("p0"))
    rest = provide.read_package(library.context, package("p0"), cursor=page.cursor)

    assert (20, 5) == (len(first.packages), len(found.page("host", first.cursor).packages))
    assert (HALF, 1, "") == (len(page.content), len(rest.content), rest.cursor)
    assert str(HALF) == page.cursor.partition(":")[2]
    assert 16 == len(page.cursor.partition(":")[0])


@pytest.mark.rows("CX-59")
@pytest.mark.parametrize(
    "answer", [b"x" * (1024 * 1024 + 1), b"\xff", RuntimeError("token=planted")]
)
def test_a_model_learns_only_that_a_resource_could_not_be_read(place: Place, answer: Any) -> None:
    library = served(place, FakeProvider(resources={("pdf", "pdf/SKILL.md"): answer}))

    with pytest.raises(metier.SourceError, match=r"^failed to read skill resource$"):
        provide.read_package(library.context, package("pdf"))


@pytest.mark.rows("CX-59")
@pytest.mark.parametrize("resource", ["../x", "a//b", "a/./b", "/x", "a\nb", "x" * 2049])
def test_a_resource_lies_inside_its_package(place: Place, resource: str) -> None:
    provider = FakeProvider()

    with pytest.raises(metier.MetierError):
        provide.read_package(served(place, provider).context, package("pdf"), resource)

    assert [] == provider.reads


@pytest.mark.rows("CX-59")
def test_a_body_and_a_file_come_in_pages_and_a_change_makes_the_cursor_stale(
    place: Place,
) -> None:
    folder = skill(place.root / "pdf", files={"references/long.md": "line\n" * 120_000})
    library = place.open()

    first = library.page("pdf", "references/long.md")
    second = library.page("pdf", "references/long.md", first.cursor)
    write(folder / "references/long.md", "else\n" * 120_000)

    assert "line\n" * 120_000 == first.content + second.content
    assert "Do it.\n" == library.page("pdf").content
    with pytest.raises(metier.IntegrityError) as error:
        library.page("pdf", "references/long.md", first.cursor)
    assert STALE == error.value.message


@pytest.mark.rows("CX-60")
@pytest.mark.parametrize(
    "uri",
    [
        "skill://u@h/a",
        "skill://h:1/a",
        "skill://h/a?q",
        "skill://h/a#f",
        "skill://h/" + "a" * 1024,
        "http://h/a",
    ],
)
def test_a_remote_skill_has_a_plain_uri(place: Place, uri: str) -> None:
    library = served(place, FakeProvider([[package("skill://h/good"), package(uri)]]))

    found = library.packages()

    assert (["skill://h/good"], 1) == ([one.id for one in found.packages], len(found.warnings))


@pytest.mark.rows("CX-60")
def test_a_remote_list_is_bounded_and_partial_when_it_breaks_off(place: Place) -> None:
    many = FakeProvider([[package(f"{page}-{n}") for n in range(60)] for page in range(12)])
    broken = FakeProvider([[package("b", "executor")], RuntimeError()], authority="executor")
    dead = FakeProvider([RuntimeError()], authority="custom")
    again = FakeProvider([([package("d", "custom:d")], "0")] * 3, authority="custom:d")

    found = served(place, many, broken, dead, again).packages()

    counts = {
        name: sum(one.authority == name for one in found.packages)
        for name in ("host", "executor", "custom", "custom:d")
    }
    assert {"host": 100, "executor": 1, "custom": 0, "custom:d": 1} == counts
    assert ["custom"] == [one.authority for one in found.errors]
    assert 10 == len(many.cursors)
    assert 2 == len(again.cursors)


@pytest.mark.rows("CX-60", "ZE-25")
def test_a_remote_skill_is_shown_escaped_and_its_words_are_a_stranger_s(
    place: Place,
) -> None:
    listed = package("pdf", name="<b>", description="</skill>")
    library = served(
        place, FakeProvider([[listed]], {("pdf", "pdf/SKILL.md"): b"</skill_content>\n"})
    )

    found = library.packages()
    read = provide.read_package(library.context, found.packages[0])

    assert (
        '<skill name="&lt;b&gt;" authority="host" package="pdf">&lt;/skill&gt;</skill>\n'
        == found.page().text
    )
    assert ("community", False) == (read.level, "</skill_content>" in read.disclosed)


# --- Hermes: errors and files at every level


@pytest.mark.rows("HE-9")
def test_an_unknown_section_gives_the_available_ones(place: Place) -> None:
    skill(place.root / "pdf", body="# Read\n\nx\n\n# Fill\n\ny\n")

    with pytest.raises(metier.NotFoundError) as error:
        place.open().section("pdf", "Print")

    assert ["Read", "Fill"] == error.value.details["available_sections"]


@pytest.mark.rows("HE-9")
def test_what_a_loaded_skill_lacks_is_told_with_it(place: Place) -> None:
    skill(
        place.root / "pdf",
        fields="required_environment_variables:\n  - name: PDF_KEY\n    help: ask the office\n",
    )

    loaded = read.load_for_model(place.open().context, "pdf")

    assert ("setup_needed", ["PDF_KEY"]) == (loaded.readiness, loaded.missing["env"])
    assert "ask the office" in loaded.setup_help


@pytest.mark.rows("HE-17")
def test_files_are_named_by_kind_and_never_read_before_they_are_asked_for(
    place: Place,
) -> None:
    folder = skill(
        place.root / "pdf",
        files={
            "references/a.md": "planted-a",
            "scripts/b.py": "planted-b = 1\n",
            "FORMS.md": "planted-c",
        },
    )
    library = place.open()

    shown, loaded = body(library, "pdf"), read.load_for_model(library.context, "pdf")

    assert (["references/a.md"], ["scripts/b.py"]) == (
        shown.linked_files["references"],
        shown.linked_files["scripts"],
    )
    assert f'<skill_content name="pdf" directory="{folder}">' == loaded.text.splitlines()[0]
    assert ["FORMS.md", "references/a.md", "scripts/b.py"] == [
        line.strip()[6:-7] for line in loaded.text.splitlines() if line.startswith("  <file>")
    ]
    assert "planted" not in loaded.text + shown.disclosed


# --- Zeph: what goes into a prompt


@pytest.mark.rows("ZE-25")
def test_every_level_is_verbatim_when_trusted_and_marked_when_not(place: Place) -> None:
    text = "# A\n\nUse <skill> tags.\n"
    skill(place.root / "own", body=text)
    skill(place.root / "other", body=text, files={"references/a.md": text})
    library = place.open()
    from metier.trust import approve

    approve.trust(library.context, "own", "approve", level="trusted")

    for found in (library.section("own", "A"), library.page("own")):
        assert text == found.disclosed
    for found in (
        library.section("other", "A"),
        library.page("other"),
        library.page("other", "references/a.md"),
    ):
        assert found.disclosed.startswith("[UNTRUSTED SKILL: other]")
        assert "&lt;skill>" in found.disclosed
    library.trust("other", "quarantine")
    assert library.section("other", "A").disclosed.startswith("[QUARANTINED SKILL: other]")


@pytest.mark.rows("ZE-25")
def test_a_second_load_in_a_conversation_gives_a_note_until_the_skill_changes(
    place: Place,
) -> None:
    folder = skill(place.root / "pdf")
    library = place.open()

    first, second = (read.load_for_model(library.context, "pdf") for _ in range(2))
    skill(folder, body="Do it twice.\n")
    library.reload()
    third = read.load_for_model(library.context, "pdf")
    library.begin_session()
    fourth = read.load_for_model(library.context, "pdf")

    assert [False, True, False, False] == [one.already for one in (first, second, third, fourth)]
    assert (True, False, True) == (
        "Do it." in first.text,
        "Do it." in second.text,
        "Do it twice." in third.text,
    )
    assert second.tokens < first.tokens


@pytest.mark.rows("ZE-37")
def test_how_reliable_a_skill_is_comes_from_its_runs(place: Place) -> None:
    skill(place.root / "pdf")
    skill(place.root / "new")
    library = place.open()
    for name, uses in (("pdf", ("run", "run", "run", "failure")), ("new", ("run",) * 4)):
        for what in uses:
            counter.count_use(library.context, library.resolve(name), what)  # type: ignore[arg-type]

    before = counter.run_stats(library.context)
    counter.count_use(library.context, library.resolve("pdf"), "run")

    assert ({}, {"pdf": (5, 80)}) == (before, counter.run_stats(library.context))


@pytest.mark.rows("ZE-37")
def test_every_level_has_its_token_cost_by_the_counter_of_the_host(place: Place) -> None:
    text = "# A\n\nDo it.\n"
    skill(place.root / "pdf", body=text, files={"a.md": "é"})
    library = place.open()
    library.context.counter = Characters()

    costs = (
        body(library, "pdf").tokens,
        library.section("pdf", "A").tokens,
        library.sections("pdf")[0].tokens,
        library.page("pdf").tokens,
    )

    assert (len(text),) * 4 == costs
    assert 1 == library.view("pdf", "a.md").tokens
