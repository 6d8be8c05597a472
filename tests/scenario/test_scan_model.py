"""Scans with and without the model that reads prose: who may turn it off, what is kept, what is said."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.reader import WordReader

import metier
from metier.cli.commands import doctor
from metier.errors import ConfigError, StoreError
from metier.find.io import embedding_model
from metier.find.io.embedding_model import OnnxReader, why_unavailable
from metier.scan.known_rules import ruleset_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Home, Writer

    from metier.library import Library

PLANTED = (
    "---\nname: notes\ndescription: Writes notes. Use it for notes.\n---\n\n# Notes\n\n"
    "Once the note is written, heron.\n"
)
"""What no rule minds, and the reader of these tests does."""
MANY = 24
"""Skills that are shared among the cores."""

runs = pytest.mark.skipif(bool(why_unavailable()), reason=f"needs onnxruntime: {why_unavailable()}")


@pytest.fixture
def project(tmp_path: Path, skill: Writer) -> Path:
    skill("project/skills/notes", text=PLANTED)
    (tmp_path / "project/.git").mkdir()
    return tmp_path / "project"


@pytest.fixture
def opened(
    home: Home, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Library]:
    """Give what opens a library on a machine that can run models, with a configuration and a reader."""
    monkeypatch.setattr("metier.discover.io.packages.has_model_runtime", lambda: True)

    def open_it(config: str = "", told: str | None = None, *, own: bool = True) -> Library:
        file = tmp_path / "mine.toml"
        file.write_text(config)
        env = {**home.env, "METIER_CONFIG": str(file)}
        del env["METIER_SCAN_MODEL"]
        if told is not None:
            env["METIER_SCAN_MODEL"] = told
        m = metier.open(env=env, cwd=project)
        if own:
            m.context.reader = WordReader({"heron": 1.5})
        return m

    return open_it


def levels(m: Library) -> list[str]:
    return [one.level for one in m.scan(["skills"])]


# --- who may turn it off


def test_a_model_reads_where_nobody_turned_it_off(opened: Callable[..., Library]) -> None:
    with opened() as m:
        (found,) = m.scan(["skills"])

    assert ("caution", ["SC801"]) == (found.level, [one.rule for one in found.findings])


@pytest.mark.parametrize(
    ("config", "told", "level"),
    [
        ("", "off", "safe"),
        ('[scan]\nmodel = "off"\n', None, "safe"),
        ('[scan]\nmodel = "off"\n', "", "safe"),
        ('[scan]\nmodel = "off"\n', "auto", "caution"),
        ('[scan]\nmodel = "auto"\n', "off", "safe"),
        ('[scan]\nmodel = "auto"\n', None, "caution"),
    ],
)
def test_you_may_turn_it_off_and_the_environment_is_stronger(
    opened: Callable[..., Library], config: str, told: str | None, level: str
) -> None:
    with opened(config, told) as m:
        assert [level] == levels(m)


@pytest.mark.parametrize("told", ["OFF", "0", "no"])
def test_another_word_in_the_environment_is_refused(
    opened: Callable[..., Library], told: str
) -> None:
    with (
        opened(told=told) as m,
        pytest.raises(ConfigError, match=f"METIER_SCAN_MODEL cannot be '{told}'"),
    ):
        levels(m)


def test_another_word_in_a_configuration_is_refused(opened: Callable[..., Library]) -> None:
    with pytest.raises(ConfigError, match="model"), opened('[scan]\nmodel = "never"\n') as m:
        levels(m)


def test_a_project_cannot_turn_it_off(opened: Callable[..., Library], project: Path) -> None:
    (project / ".metier").mkdir()
    (project / ".metier/metier.toml").write_text('[scan]\nmodel = "off"\n')

    with opened() as m:
        found = levels(m)
        problems = [one for one in m.context.settings.problems if one.code == "WK012"]

    assert ["caution"] == found
    assert ["Ignored: 'scan.model'; a project may only narrow what you allow."] == [
        one.message for one in problems
    ]


def test_a_project_cannot_turn_it_on_either(opened: Callable[..., Library], project: Path) -> None:
    (project / ".metier").mkdir()
    (project / ".metier/metier.toml").write_text('[scan]\nmodel = "auto"\n')

    with opened('[scan]\nmodel = "off"\n') as m:
        assert ["safe"] == levels(m)


# --- what is kept


def test_verdicts_with_and_without_the_model_are_kept_apart(
    opened: Callable[..., Library],
) -> None:
    found = []
    for told in ("off", "auto", "off", "auto"):
        with opened(told=told) as m:
            found += levels(m)

    assert ["safe", "caution", "safe", "caution"] == found


def test_the_ruleset_names_what_reads(opened: Callable[..., Library]) -> None:
    with opened(told="off") as m:
        rules = ruleset_of(m.context)
    with opened(own=False) as m:
        shipped = ruleset_of(m.context)
    with opened() as m:
        own = ruleset_of(m.context)

    assert (f"{rules}+reader", f"{rules}+words") == (shipped, own)


def test_many_skills_are_read_on_every_core(opened: Callable[..., Library], skill: Writer) -> None:
    for number in range(MANY):
        text = PLANTED.replace("heron", f"heron {number}" if number % 2 else "nothing")
        skill(f"project/skills/s{number}", text=text)

    with opened() as m:
        found = {Path(one.path).name: one.level for one in m.scan(["skills"])}

    assert {f"s{n}": "caution" if n % 2 else "safe" for n in range(MANY)} == {
        name: level for name, level in found.items() if name != "notes"
    }


# --- where it cannot run


def test_without_onnxruntime_rules_alone_judge(
    opened: Callable[..., Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metier.discover.io.packages.has_model_runtime", lambda: False)

    with opened(own=False) as m:
        assert ["safe"] == levels(m)
        assert m.context.passage_reader() is None
        found = m.doctor()

    assert ("", "") == (found.reading.model, found.reading.trouble)
    assert (
        "by rules alone: onnxruntime is not installed (pip install 'metier[embed]')"
        in doctor.text(found)
    )


def test_without_the_weights_rules_alone_judge_and_doctor_says_what_to_install(
    opened: Callable[..., Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metier.discover.io.packages.weights_folder", str)
    monkeypatch.setattr("metier.find.io.embedding_model.WEIGHTS_FOLDER", "")

    with opened(own=False) as m:
        assert ["safe"] == levels(m)
        assert m.context.passage_reader() is None
        assert "+reader" not in ruleset_of(m.context)
        found = m.doctor()

    assert "by rules alone: the models are not installed (pip install 'metier[embed]')" in (
        doctor.text(found)
    )


@runs
@pytest.mark.parametrize("count", [1, MANY])
def test_a_broken_model_is_an_error_and_never_a_verdict(
    opened: Callable[..., Library],
    skill: Writer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
) -> None:
    for number in range(count):
        skill(f"project/skills/s{number}")
    (tmp_path / "weights").mkdir()
    own = partial(OnnxReader, str(tmp_path / "weights"))
    monkeypatch.setattr(embedding_model, "OnnxReader", own)

    with opened(own=False) as m:
        with pytest.raises(StoreError, match="metier-weights is damaged") as caught:
            levels(m)
        found = m.doctor()
    with opened('[scan]\nmodel = "off"\n', own=False) as m:
        assert {"safe"} == set(levels(m))

    assert 'scan.model = "off"' in caught.value.hint
    assert "cannot load the model" in found.reading.trouble
    assert "no skill can be scanned: reinstall 'metier[embed]', or set scan.model = \"off\"" in (
        doctor.text(found)
    )


# --- what doctor says


@pytest.mark.parametrize(
    ("config", "told", "reason"),
    [
        ("", "off", "METIER_SCAN_MODEL is off"),
        ('[scan]\nmodel = "off"\n', None, 'scan.model is "off"'),
    ],
)
def test_doctor_says_why_verdicts_are_by_rules_alone(
    opened: Callable[..., Library], config: str, told: str | None, reason: str
) -> None:
    with opened(config, told) as m:
        found = m.doctor()

    assert ("", reason, "") == found.reading
    assert f"by rules alone: {reason}" in doctor.text(found)


@runs
def test_doctor_names_the_model_that_reads(opened: Callable[..., Library]) -> None:
    with opened(own=False) as m:
        found = m.doctor()
    with opened() as m:
        own = m.doctor()

    assert OnnxReader().name == found.reading.model
    assert f"by rules, and by {found.reading.model}, which reads prose" in doctor.text(found)
    assert ("words", "", "") == own.reading
