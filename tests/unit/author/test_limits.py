"""What an agent may ask for: names, categories, files, contents, each with its limit."""

from __future__ import annotations

from typing import Any

import pytest

from metier.author import limits
from metier.errors import MetierError, RefusedError, UsageError


@pytest.mark.parametrize("name", ["a", "release-notes", "v2", "x" * 64])
def test_a_plain_name_is_accepted(name: str) -> None:
    assert name == limits.check_new_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "A",
        "-a",
        "a-",
        "a--b",
        "a_b",
        "a.b",
        ".a",
        "a/b",
        "../a",
        "a b",
        "é",
        "a\n",
        "a\0",
        "x" * 65,
        "\ud800",
    ],
)
def test_any_other_name_is_refused_for_a_new_skill(name: str) -> None:
    with pytest.raises(UsageError, match="is not a valid skill name"):
        limits.check_new_name(name)


@pytest.mark.parametrize("category", ["", "mlops", "data.v1", "a_b"])
def test_a_category_is_nothing_or_one_word(category: str) -> None:
    assert category == limits.check_category(category)


@pytest.mark.parametrize(
    "category", ["a/b", "..", ".", ".hidden", "A", "a\\b", "a\0", "x" * 65, "~"]
)
def test_any_other_category_is_refused(category: str) -> None:
    with pytest.raises(UsageError, match="is not a category"):
        limits.check_category(category)


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("SKILL.md", "SKILL.md"),
        ("./SKILL.md", "SKILL.md"),
        ("references/a.md", "references/a.md"),
        ("scripts/x/run.py", "scripts/x/run.py"),
        ("templates//t.txt", "templates/t.txt"),
        ("assets\\logo.svg", "assets/logo.svg"),
    ],
)
def test_a_file_of_the_skill_is_accepted_in_its_normal_form(path: str, file: str) -> None:
    assert file == limits.check_file_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "../SKILL.md",
        "references/../../x",
        "/etc/passwd",
        "~/x",
        "C:\\x",
        "",
        ".",
        "references",
        "references/",
        "references/a/",
        "README.md",
        "skill.md",
        "other/a.md",
        "references/.hidden",
        ".git/config",
        "references/a\nb",
        "references/a\0b",
        "references/ a",
        "scripts/a ",
        "references/" + "x" * 256,
        "references/" + "a/" * 12 + "b",
        "references/" + "é" * 128,
        "references/\ud800",
        "references/\u202eb",
        "references\\..\\..\\x",
        "agents/openai.yaml",
    ],
)
def test_any_other_path_is_refused(path: str) -> None:
    with pytest.raises(RefusedError):
        limits.check_file_path(path)


@pytest.mark.parametrize(
    ("file", "content", "code"),
    [
        ("SKILL.md", "x" * 100_001, "too-large"),
        ("references/a.md", "x" * (1024 * 1024 + 1), "too-large"),
        ("references/a.md", "é" * (512 * 1024 + 1), "too-large"),
        ("references/a.md", "a\0b", "usage"),
        ("SKILL.md", "\ud800", "usage"),
    ],
)
def test_a_text_beyond_a_limit_is_refused(file: str, content: str, code: str) -> None:
    with pytest.raises(MetierError) as caught:
        limits.content_bytes(file, content)

    assert code == caught.value.code


def test_a_text_at_its_limit_is_accepted() -> None:
    assert 200_000 == len(limits.content_bytes("SKILL.md", "é" * 100_000))
    assert 1024 * 1024 == len(limits.content_bytes("references/a.md", "x" * 1024 * 1024))


@pytest.mark.parametrize(
    ("action", "parts", "said"),
    [
        ("burn", {}, "cannot be managed by 'burn'"),
        ("create", {}, "'create' needs 'content'"),
        ("create", {"content": "x", "file": "y"}, "'create' takes no 'file'"),
        ("create", {"content": b"x"}, "'content' must be a text"),
        (
            "patch",
            {"old": "a", "new": "b", "replace_all": "yes"},
            "'replace_all' must be true or false",
        ),
        ("delete", {"content": "x"}, "'delete' takes no 'content'"),
        ("write_file", {"content": "x"}, "'write_file' needs 'file'"),
    ],
)
def test_each_action_takes_its_own_parts(action: str, parts: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        limits.parts_of(action, parts)

    assert said in caught.value.message


def test_what_is_left_out_has_a_default() -> None:
    assert {"old": "a", "new": "b", "file": "SKILL.md", "replace_all": False} == limits.parts_of(
        "patch", {"old": "a", "new": "b"}
    )
