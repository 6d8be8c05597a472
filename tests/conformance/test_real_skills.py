"""3,200 real skills from public collections: nothing crashes, nothing is silently lost, and the counts stay as they are.

The sample lies beside a development checkout and is never part of it; elsewhere these tests are skipped.
"""

from __future__ import annotations

import fcntl
import json
import os
import tarfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml
from conformance.folders import codes

import metier
from metier.standard.frontmatter import split
from metier.standard.plain_yaml import read_plain

if TYPE_CHECKING:
    from metier.model import Card, Checked

# With `--dist loadgroup` one worker unpacks and reads the sample once; otherwise the lock below keeps the files whole.
pytestmark = pytest.mark.xdist_group("real-skills")

CHECKED = {
    "SK002": 32,
    "SK006": 1,
    "SK008": 7,
    "SK010": 240,
    "SK011": 2,
    "SK012": 1,
    "SK014": 1,
    "SK020": 11,
    "SK021": 91,
    "SK022": 2,
    "SK025": 3,
    "SK030": 17,
    "SK031": 1,
    "SK033": 124,
    "SK034": 1,
    "SK035": 417,
    "SK040": 7,
    "SK041": 1,
    "SK042": 1,
    "SK050": 2,
    "SK052": 451,
    "SK054": 13,
    "SK060": 4540,
    "SK070": 6,
    "SK071": 330,
    "SK072": 1576,
    "SK073": 112,
}
"""Faults that `metier check` finds in the whole sample, by rule."""
INVALID = 14
"""Skills that nobody could read. How many are hidden depends on the platform, for some are for another one."""
KINDS = {
    # kind of oddity: the rules one of which every such skill must meet
    "bom": {"SK008"},
    "case_variant_filename": {"SK002"},
    "empty_file": {"SK010"},
    "leading_blank_before_fence": {"SK014"},
    "missing_closing_fence": {"SK011", "SK012"},
    "no_frontmatter": {"SK010"},
    "no_frontmatter_other": {"SK010"},
    "nul_bytes": {"SK006"},
    "unquoted_colon": {"SK020", "SK021"},
    "yaml_fail": {"SK020", "SK021", "SK025"},
}


class Sample(NamedTuple):
    """The unpacked sample, listed and checked once."""

    root: Path
    folders: dict[str, str]
    """Key of each skill → its folder."""
    odd: dict[str, list[str]]
    """Kind of oddity → keys."""
    cards: list[Card]
    checked: dict[str, Checked]


@pytest.fixture(scope="session")
def sample(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Unpack, list and check the sample."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    root = unpacked(data / "skills-sample.tar.xz", shared / "real-skills")
    env = {"HOME": str(base), "METIER_HOME": str(base / "real-skills-state")}
    library = metier.open(roots=[str(root / "skills")], cwd=base, env=env)
    odd = json.loads((root / "odd.json").read_text())
    return Sample(
        root / "skills",
        json.loads((root / "index.json").read_text()),
        {
            kind: [key if isinstance(key, str) else key[0] for key in keys]
            for kind, keys in odd.items()
        },
        library.skills(all=True),
        {one.path: one for one in library.check([str(root / "skills")])},
    )


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpack the archive, once for all workers."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
            (folder / "whole").touch()
    return folder


def test_every_real_skill_is_a_row(sample: Sample) -> None:
    files = [
        Path(folder)
        for folder, _, names in os.walk(sample.root)
        for name in names
        if name.lower() == "skill.md"
    ]

    rows = {card.path for card in sample.cards}

    assert set() == {str(sample.root / folder) for folder in sample.folders.values()} - rows
    assert set() == {str(folder) for folder in files} - rows
    assert (3200, 3200) == (len(sample.folders), len(sample.cards))


def test_every_real_skill_has_a_state_and_what_is_not_visible_a_reason(sample: Sample) -> None:
    assert INVALID == sum(card.state == "invalid" for card in sample.cards)
    assert [] == [
        card.path for card in sample.cards if card.state != "visible" and not card.reasons
    ]


def test_every_fault_has_a_place_and_a_hint(sample: Sample) -> None:
    notes = [note for one in sample.checked.values() for note in one.diagnostics]

    assert [] == [
        note
        for note in notes
        if not (note.line > 0 and note.column > 0 and note.message and note.hint)
    ]


def test_the_counts_per_rule_stay_as_they_are(sample: Sample) -> None:
    found = Counter(code for one in sample.checked.values() for code in codes(one.diagnostics))

    assert CHECKED == dict(sorted(found.items()))
    assert (3200, 2382) == (len(sample.checked), sum(one.ok for one in sample.checked.values()))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_oddity_meets_its_rule(sample: Sample, kind: str) -> None:
    met = {
        key: {*codes(sample.checked[str(sample.root / sample.folders[key])].diagnostics)}
        for key in sample.odd[kind]
    }

    assert {} == {key: found for key, found in met.items() if not found & KINDS[kind]}


def test_nearly_every_unquoted_colon_is_repaired(sample: Sample) -> None:
    keys = sample.odd["unquoted_colon"]

    mended = [
        key
        for key in keys
        if "SK021" in codes(sample.checked[str(sample.root / sample.folders[key])].diagnostics)
    ]

    assert (75, 73) == (len(keys), len(mended))


@pytest.mark.parametrize(
    "kind", ["crlf", "huge_gt_100k", "nested_under_other_skill", "name_not_str"]
)
def test_what_is_odd_to_others_is_read_here(sample: Sample, kind: str) -> None:
    states = {card.path: card.state for card in sample.cards}

    assert {"invalid"}.isdisjoint(
        states[str(sample.root / sample.folders[key])] for key in sample.odd[kind]
    )


def test_a_name_that_yaml_takes_for_a_boolean_stays_text(sample: Sample) -> None:
    (key,) = sample.odd["name_not_str"]

    assert "yes" in {
        card.name for card in sample.cards if card.path == str(sample.root / sample.folders[key])
    }


def test_the_plain_reader_agrees_with_yaml_on_every_frontmatter_it_accepts(sample: Sample) -> None:
    accepted, differing = 0, []
    for card in sample.cards:
        text = frontmatter(Path(card.path))
        plain = read_plain(text) if text else None
        if plain is None:
            continue
        accepted += 1
        if plain[0] != composed(text):
            differing.append(card.path)

    assert [] == differing
    # Were it to accept less, the everyday listing would be slow.
    assert accepted >= 2700


def frontmatter(folder: Path) -> str:
    """Give the text between the fences, or nothing."""
    (file,) = [name for name in os.listdir(folder) if name.lower() == "skill.md"]
    data = (folder / file).read_bytes()
    part = split(data, complete=True)
    return data[part.start : part.end].decode(errors="replace") if part.outcome == "found" else ""


def composed(text: str) -> Any:
    """Read YAML as PyYAML composes it, every scalar kept as text; an error is an answer too."""
    try:
        return textual(yaml.compose(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        return error


def textual(node: yaml.Node | None) -> Any:
    """Turn a node into texts, lists and dicts; what YAML takes for nothing is an empty text."""
    if isinstance(node, yaml.MappingNode):
        return {textual(key): textual(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [textual(item) for item in node.value]
    if not isinstance(node, yaml.ScalarNode):
        return None
    return "" if node.tag == "tag:yaml.org,2002:null" else node.value
