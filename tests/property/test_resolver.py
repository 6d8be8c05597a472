"""Which copy a name means: decided by the candidates and the order of the roots, never by the order a disk lists things in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fakes.disk import FakeDisk
from hypothesis import given, settings, strategies as st

from metier.discover.walk import survey
from metier.model import Digest, Limits, Root, Said
from metier.resolve.model import ResolvePolicy, World
from metier.resolve.resolver import resolve
from metier.settings.merge import Rule, Settings

if TYPE_CHECKING:
    from random import Random

    from metier.model import Card, Entry

NAMES = ("pdf", "ocr", "notes")
KINDS = st.sampled_from(
    [
        "---\nname: {name}\ndescription: Fine.\n---\n",
        "---\nname: other\ndescription: Misnamed.\n---\n",
        "no frontmatter\n",
        "---\nname: {name}\ndescription: Gated.\nplatforms: [plan9]\n---\n",
        "---\nname: [\n---\n",
        "---\nname: {name}\n---\n",
        "---\nname: {name}\ndescription: Needs.\nprerequisites: {{commands: [nowhere]}}\n---\n",
        "---\nname: {name}\ndescription: Quiet.\ndisable-model-invocation: true\n---\n",
        "---\nname: {name}\ndescription: Builds on others.\nrequires_skills: [notes, pdf]\n---\n",
        "---\nname: {name}\ndescription: Builds on nothing.\nrequires_skills: [nowhere]\ndependencies: [nothing]\n---\n",
    ]
)
PLACES = st.tuples(
    st.sampled_from(["one", "two", "three"]),
    st.sampled_from(["", "group/", "group/deep/"]),
    st.sampled_from(NAMES),
)
TREES = st.dictionaries(PLACES, KINDS, min_size=1, max_size=8)
LINKS = st.dictionaries(
    PLACES,
    st.tuples(
        st.sampled_from(["one", "two", "three", "outside"]), st.sampled_from(["", "/group", "/pdf"])
    ),
    max_size=3,
)
SETTINGS = st.sampled_from(
    [
        Settings(),
        Settings(disabled=("pdf",)),
        Settings(hide_unready=True),
        Settings(allow_without_frontmatter=True),
        Settings(rules=(Rule(False, path="/one/pdf"), Rule(True, name="pdf"))),
        Settings(rules=(Rule(False, name="ocr"),)),
    ]
)
POLICIES = st.builds(ResolvePolicy, SETTINGS, st.just(World("linux")), st.booleans())
Tree = dict[tuple[str, str, str], str]


class NothingThere:
    """A machine on which nothing is installed or set."""

    def has_env(self, name: str) -> bool:
        return not name

    def has_command(self, name: str) -> bool:
        return not name

    def has_file(self, path: str) -> bool:
        return not path

    def refusal(self, _name: str) -> str:
        """Refuse nothing."""
        return ""

    def has_package(self, name: str) -> bool:
        return not name

    def decisions(self) -> bytes:
        return b""

    def said(self, decisions: bytes) -> Said:
        assert not decisions
        return Said()

    def stamp(self, path: str) -> str:
        return path

    def digest(self, path: str) -> Digest | None:
        return Digest(path)


def files_of(
    tree: Tree, links: dict[tuple[str, str, str], tuple[str, str]]
) -> dict[str, bytes | str]:
    files: dict[str, bytes | str] = {
        "/one/a.md": b"---\nname: pdf\ndescription: Flat.\n---\n",
        "/two/code.py": b"SKILL_NAME = 'pdf'\ndef run(task): ...\n",
        "/three/x": b"",
        "/outside/pdf/SKILL.md": b"---\nname: pdf\ndescription: Outside.\n---\n",
    }
    for (root, above, name), text in tree.items():
        files[f"/{root}/{above}{name}/SKILL.md"] = text.format(name=name).encode()
    for (root, above, name), (target, below) in links.items():
        files[f"/{root}/{above}link-{name}"] = f"/{target}{below}"
    return files


def roots_in(order: list[str]) -> list[Root]:
    return [Root(f"/{name}", "external", "", "--root") for name in order]


def found_by(disk: FakeDisk, roots: list[Root]) -> list[tuple[Root, list[Entry]]]:
    return [(root, survey(root, Limits(), disk).entries) for root in roots]


def cards_by(disk: FakeDisk, roots: list[Root], policy: ResolvePolicy) -> list[Card]:
    return resolve(found_by(disk, roots), policy, NothingThere())


@settings(max_examples=300)
@given(
    TREES,
    LINKS,
    POLICIES,
    st.permutations(["one", "two", "three"]),
    st.randoms(use_true_random=False),
)
def test_the_order_in_which_a_disk_lists_things_changes_no_card(
    tree: Tree,
    links: dict[tuple[str, str, str], tuple[str, str]],
    policy: ResolvePolicy,
    order: list[str],
    random: Random,
) -> None:
    files = files_of(tree, links)
    shuffled = list(files.items())
    random.shuffle(shuffled)

    expected = cards_by(FakeDisk(files), roots_in(order), policy)
    # `Listing` promises sorted names, so the other disk differs in all but that: in the order it learnt of its files.
    actual = cards_by(FakeDisk(dict(shuffled)), roots_in(order), policy)

    assert expected == actual


@settings(max_examples=300)
@given(TREES, POLICIES, st.permutations(["one", "two", "three"]), st.randoms(use_true_random=False))
def test_the_order_of_a_root_s_entries_changes_no_card_even_unsorted(
    tree: Tree, policy: ResolvePolicy, order: list[str], random: Random
) -> None:
    files = files_of(tree, {})

    def as_it_likes(names: list[str]) -> list[str]:
        random.shuffle(names)
        return names

    expected = cards_by(FakeDisk(files), roots_in(order), policy)
    actual = cards_by(FakeDisk(files, as_it_likes), roots_in(order), policy)

    assert expected == actual


@settings(max_examples=300)
@given(TREES, LINKS, st.permutations(["one", "two", "three"]))
def test_the_first_root_that_has_a_usable_copy_wins(
    tree: Tree, links: dict[tuple[str, str, str], tuple[str, str]], order: list[str]
) -> None:  # MT-1
    cards = cards_by(
        FakeDisk(files_of(tree, links)), roots_in(order), ResolvePolicy(Settings(), World("linux"))
    )

    ranks = {f"/{name}": rank for rank, name in enumerate(order)}
    for card in cards:
        others = [other for other in cards if other.name == card.name and other.path != card.path]
        if card.state == "visible":
            assert not [other for other in others if other.state == "visible"]
            assert all(
                ranks[card.root] <= ranks[other.root]
                for other in others
                if other.state == "shadowed"
            )
        if card.state == "shadowed":
            (winner,) = [other for other in others if card.path in other.shadows]
            assert "shadowed" != winner.state
            assert card.reasons[0].startswith(f"shadowed by {winner.path}: ")


@settings(max_examples=200)
@given(TREES, LINKS, st.permutations(["one", "two", "three"]), POLICIES)
def test_every_skill_is_a_card_and_none_is_there_twice(
    tree: Tree,
    links: dict[tuple[str, str, str], tuple[str, str]],
    order: list[str],
    policy: ResolvePolicy,
) -> None:
    disk = FakeDisk(files_of(tree, links))

    cards = cards_by(disk, roots_in(order), policy)

    reals = [disk.real(card.path) for card in cards]
    assert len(reals) == len(set(reals))
    assert {f"/{root}/{above}{name}" for root, above, name in tree} <= set(reals)
    assert all(card.reasons for card in cards if card.state != "visible")


@settings(max_examples=150)
@given(
    TREES,
    st.permutations(["one", "two", "three"]),
    POLICIES,
    st.sampled_from(["pdf", "ocr", "notes"]),
)
def test_a_copy_of_another_name_changes_nothing(
    tree: Tree, order: list[str], policy: ResolvePolicy, name: str
) -> None:
    files = files_of(tree, {})
    more = {
        **files,
        "/one/unrelated/SKILL.md": b"---\nname: unrelated\ndescription: Another.\n---\n",
    }

    expected = [
        card for card in cards_by(FakeDisk(files), roots_in(order), policy) if card.name == name
    ]
    actual = [
        card for card in cards_by(FakeDisk(more), roots_in(order), policy) if card.name == name
    ]

    assert expected == actual


@settings(max_examples=150)
@given(TREES, LINKS)
def test_what_is_known_of_an_earlier_walk_changes_no_answer(
    tree: Tree, links: dict[tuple[str, str, str], tuple[str, str]]
) -> None:
    disk = FakeDisk(files_of(tree, links))
    (root,) = roots_in(["one"])
    first = survey(root, Limits(), disk)
    disk.reads.clear()

    again = survey(root, Limits(), disk, first.known)

    assert first.entries == again.entries
    assert (first.problems, first.truncated, first.categories) == (
        again.problems,
        again.truncated,
        again.categories,
    )
    assert (0, []) == (again.reads, disk.reads)
