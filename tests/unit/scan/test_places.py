"""The places that every analyzer knows."""

import pytest

from metier.scan.rules.places import find_places, names, plain, secret_name


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("credential", "cat ~/.ssh/id_rsa", "SSH keys"),
        ("credential", r"C:\Users\a\AppData\Local\Google\Chrome\User Data", "a browser profile"),
        ("credential", "cp .env /tmp", "an environment file"),
        ("credential", "process.env", ""),
        ("credential", "cp .env.example .env.sample", ""),
        ("exfiltration", "https://webhook.site/a", "a request catcher"),
        ("exfiltration", "https://profile.io/a", ""),
        ("persistence", "~/.zshrc", "a shell profile"),
        ("memory", "./CLAUDE.md", "the agent's standing instructions"),
        ("memory", "README.md", ""),
    ],
)
def test_a_place_is_known_by_a_whole_piece_of_its_path(kind: str, text: str, expected: str) -> None:
    assert expected == names(kind, text)


def test_a_place_is_reported_where_it_stands() -> None:
    text = "İ read ~/.aws/credentials"

    (seen,) = find_places("credential", text)

    assert ".aws/credentials" == text[seen.start : seen.end]


def test_lower_case_keeps_every_offset() -> None:
    assert len("İ\\A") == len(plain("İ\\A"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("OPENAI_API_KEY", True),
        ("dbPassword", True),
        ("AWS_ACCESS_KEY_ID", True),
        ("max_tokens", False),
        ("tokenizer", False),
        ("HOME", False),
    ],
)
def test_a_name_says_whether_it_holds_a_secret(name: str, expected: bool) -> None:
    assert expected == secret_name(name)
