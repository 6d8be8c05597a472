"""What a scan says about the shape of a skill, and what a skill declares in Zeph's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from conformance.folders import Place, body, run, skill, write

if TYPE_CHECKING:
    from pathlib import Path

ELF = b"\x7fELF\x02\x01\x01" + b"\0" * 60


@pytest.fixture
def scanned(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Give what scans a folder and tells its findings, each with its rule and its path."""

    def scan(folder: Path) -> set[tuple[str, str]]:
        _code, told = run(capsys, monkeypatch, place, "scan", str(folder))
        return {(one["rule"], one["path"]) for one in told["skills"][0]["findings"]}

    return scan


@pytest.mark.rows("HE-32")
def test_what_is_odd_about_the_shape_of_a_skill_is_found(place: Place, scanned: Any) -> None:
    folder = skill(place.root / "pdf", files={f"{number}.txt": "x\n" for number in range(55)})
    write(folder / "large.txt", "words and more words\n" * 15_000)
    write(folder / "larger.txt", "other words and more\n" * 40_000)
    write(folder / "tool", ELF)
    write(folder / "notes.md", "# Notes\n\nSome words.\n", executable=True)
    write(folder / "unseen.md", "Read\u200bthis.\n")
    (folder / "out").symlink_to("/etc/passwd")
    (folder / "broken").symlink_to("not-there.md")

    found = scanned(folder)

    assert {
        ("SC600", ""),
        ("SC601", ""),
        ("SC602", "large.txt"),
        ("SC603", "tool"),
        ("SC604", "notes.md"),
        ("SC605", "out"),
        ("SC606", "broken"),
    } <= found
    assert "unseen.md" in {path for _rule, path in found}


@pytest.mark.rows("HE-33", "MT-22")
@pytest.mark.parametrize("name", [".skillignore", ".clawhubignore"])
def test_no_file_of_a_skill_takes_another_out_of_the_scan(
    place: Place, scanned: Any, name: str
) -> None:
    folder = skill(place.root / "pdf", files={name: "tool\nSKILL.md\n*\n", "tool": ELF})

    assert {("SC603", "tool"), ("SC614", name)} <= scanned(folder)


@pytest.mark.rows("ZE-16")
@pytest.mark.parametrize("written", ["Bash(git:*) BASH write", "Bash(git:*), BASH, write"])
def test_tools_are_separated_by_spaces_or_commas_and_a_call_in_parentheses_is_one(
    place: Place, written: str
) -> None:
    skill(place.home / ".agents/skills/pdf", fields=f"allowed-tools: {written}\n")

    decided = place.scopes().trust("pdf", "block")

    assert tuple(
        f"{tool}: all tools blocked (trust=blocked)" for tool in ("Bash(git:*)", "BASH", "write")
    ) == tuple(decided.escalations)


@pytest.mark.rows("ZE-16")
@pytest.mark.parametrize(
    "fields",
    [
        "x-requires-secrets: form-key, other_key\n",
        "requires-secrets: form-key, other_key\n",
        "x-requires-secrets: form-key\nrequires-secrets: other_key, form-key\n",
        "requires-secrets: other_key, form-key\nx-requires-secrets: form-key\n",
    ],
)
def test_secrets_are_separated_by_commas_under_the_new_key_and_the_old_one(
    place: Place, fields: str
) -> None:
    skill(place.root / "pdf", fields=fields)

    found = place.open().prepare("pdf")

    assert ["FORM_KEY", "OTHER_KEY"] == [ask.name for ask in found.asks]


@pytest.mark.rows("ZE-16")
def test_the_other_fields_of_zeph_are_kept_as_written(place: Place) -> None:
    fields = {
        "x-source-url": "https://example.com/pdf",
        "x-git-hash": "0a1b2c",
        "license": "MIT",
        "compatibility": "any system",
        "category": "office",
    }
    skill(place.root / "pdf", fields="".join(f"{key}: {text}\n" for key, text in fields.items()))
    library = place.open()

    assert fields.items() <= body(library, "pdf").fields.items()
    assert ["office"] == [card.category for card in library.skills()]
