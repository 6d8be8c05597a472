"""Secrets are taken out of whatever is about to be written down. CO-28 names fifteen patterns; here are more."""

from __future__ import annotations

import pytest

from metier.audit.redact import (
    MAX_ALL_CHARACTERS,
    MAX_DEPTH,
    MAX_NODES,
    MAX_TEXT_CHARACTERS,
    PATTERNS,
    is_secret_name,
    redact,
    redact_text,
)

LONG = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA3cD6fG9"

# The bait is put together here, so that no scanner of repositories takes it for the real thing.
SECRETS = [
    ("aws-key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("aws-key", "ASIA" + "IOSFODNN7EXAMPLE"),
    ("github-token", "ghp_" + LONG),
    ("github-token", "github_pat_" + LONG),
    ("gitlab-token", "glpat-" + LONG[:20]),
    ("slack-token", "xoxb-" + "123456789012-abcdefGHIJ"),
    ("stripe-key", "sk_live_" + LONG[:24]),
    ("stripe-key", "whsec_" + LONG),
    ("model-key", "sk-" + LONG),
    ("model-key", "sk-ant-api03-" + LONG),
    ("model-key", "sk-proj-" + LONG),
    ("google-key", "AIza" + LONG[:35]),
    ("npm-token", "npm_" + LONG[:36]),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc" + LONG),
    ("huggingface-token", "hf_" + LONG[:34]),
    ("digitalocean-token", "dop_v1_" + "0a" * 32),
    ("vault-token", "hvs." + LONG),
    ("sendgrid-key", "SG." + LONG[:22] + "." + LONG),
    ("shopify-token", "shpat_" + "0a" * 16),
    ("telegram-token", "123456789:" + LONG[:35]),
    ("discord-token", "M" + LONG[:23] + "." + LONG[:6] + "." + LONG[:27]),
    ("jwt", "eyJ" + LONG + ".eyJ" + LONG + "." + LONG),
    ("age-key", "AGE-SECRET-KEY-1" + "QZ" * 29),
]
PEM = (
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END OPENSSH PRIVATE KEY-----"
)

ASSIGNED = [
    "password=hunter2",
    "PASSWORD: hunter2",
    'password = "hunter2 and more"',
    "db_passwd='hunter2'",
    '{"password": "hunter2"}',
    r"{\"password\": \"hunter2\"}",
    "AWS_SECRET_ACCESS_KEY=hunter2",
    'os.environ["API_KEY"] = "hunter2"',
    "client_secret => hunter2",
    "apiKey: 'hunter2",
    "--password hunter2",
    "--access-token hunter2",
    "https://x/?access_token=hunter2&a=b",
    "AccountKey=hunter2;EndpointSuffix=x",
    "Authorization: Basic hunter2hunter2",
    "authorization: hunter2",
    "'Authorization': 'Token hunter2'",
    "Bearer hunter2hunter2",
    "https://ada:hunter2@example.com/x",
    "postgres://ada:hun@hunter2@db/x",
    "https://hunter2hunter2hunter2@example.com/x",
    "curl -u ada:hunter2 https://example.com",
    "https://discord.com/api/webhooks/123456789/hunter2hunter2hunter2",
    "https://hooks.slack.com/services/T000/B000/hunter2hunter2",
]

HARMLESS = [
    "",
    "sha256:" + "0a" * 32,
    "git@github.com:ada/skills.git",
    "ssh://git@github.com/ada/skills",
    "https://example.com:8443/a@b",
    "risk-assessment-of-the-third-kind-2024",
    "the skill used 1,200 tokens: 5 more than before",
    "tokens: 5",
    "2023-11-14T22:13:20Z",
    "/home/ada/.agents/skills/pdf/SKILL.md:12:3",
    "a secret garden, and a password manager",
    "eyJust a word",
]


def test_there_are_at_least_fifteen_patterns() -> None:  # CO-28
    assert len({pattern.name for pattern in PATTERNS}) >= 15


@pytest.mark.parametrize(("name", "secret"), SECRETS)
@pytest.mark.parametrize(
    "around",
    ["{}", "see {} there", "x={}", "({})", '"{}"', "key-{}", "https://x/?a={}&b=c", "1\n{}\n2"],
)
def test_a_secret_is_taken_out_by_its_form(name: str, secret: str, around: str) -> None:
    text = redact_text(around.format(secret))

    assert secret not in text
    assert around.format(f"[redacted: {name}]") == text


@pytest.mark.parametrize("text", [PEM, PEM[:60], PEM.replace("\n", "\\n"), "a\n" + PEM + "\nb"])
def test_a_private_key_is_taken_out_whole_and_also_when_it_is_cut(text: str) -> None:
    assert "b3Blb" not in redact_text(text)


@pytest.mark.parametrize("text", ASSIGNED)
def test_a_secret_is_taken_out_by_what_stands_before_it(text: str) -> None:
    clean = redact_text(text)

    assert "hunter2" not in clean
    assert "[redacted: " in clean


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert text == redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        *ASSIGNED,
        *(secret for _name, secret in SECRETS),
        "token: " + SECRETS[2][1],
        "Authorization: Bearer " + SECRETS[21][1],
    ],
)
def test_taking_out_twice_changes_nothing_more(text: str) -> None:
    once = redact_text(text)

    assert once == redact_text(once)


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "db_password",
        "clientSecret",
        "X-Api-Key",
        "API_KEY",
        "token",
        "github.token",
        "Authorization",
        "secrets",
    ],
)
def test_a_name_says_that_its_value_is_a_secret(name: str) -> None:
    assert is_secret_name(name)
    assert {name: "[redacted: secret]"} == redact({name: "x"})
    assert {name: "[redacted: secret]"} == redact({name: ["x", {"y": 1}]})


@pytest.mark.parametrize(
    "name",
    ["tokens", "name", "passed", "compass", "secretary", "tokenizer", "path", "monkey", "author"],
)
def test_other_names_say_nothing(name: str) -> None:
    assert not is_secret_name(name)
    assert {name: "x"} == redact({name: "x"})


def test_values_are_looked_through_to_the_bottom() -> None:
    bait = SECRETS[0][1]

    clean = redact(
        {
            "a": [bait, (bait, {bait: bait})],
            "b": bait.encode(),
            "c": 5,
            "d": None,
            "e": True,
            "f": 1.5,
        }
    )

    mark = "[redacted: aws-key]"
    assert {
        "a": [mark, [mark, {mark: mark}]],
        "b": mark,
        "c": 5,
        "d": None,
        "e": True,
        "f": 1.5,
    } == clean


def test_what_json_cannot_hold_becomes_a_word() -> None:
    clean = redact(
        {
            "a": float("nan"),
            "b": float("inf"),
            "c": 1 << 20_000,
            "d": object(),
            "e": b"\xff\x00",
            5: {1},
            None: 1,
        }
    )

    assert {
        "a": "[nan]",
        "b": "[inf]",
        "c": "[a number of 20001 bits]",
        "d": "[object]",
        "e": "\\xff\x00",
        "5": [1],
        "None": 1,
    } == clean


def test_a_value_that_holds_itself_has_an_end() -> None:
    knot: list[object] = []
    knot += [knot] * 10
    loop: dict[str, object] = {}
    loop |= {"a": loop, "b": loop, "c": knot}

    assert str(redact(knot)).count("[left out]") <= MAX_NODES
    assert redact(loop)


def test_what_is_nested_too_deep_is_left_out() -> None:
    deep: object = "ghp_" + LONG
    for _ in range(100_000):
        deep = [deep]

    assert ["[left out]"] == _inner(redact(deep), MAX_DEPTH)


def _inner(value: object, depth: int) -> object:
    for _ in range(depth):
        assert isinstance(value, list)
        value = value[0]
    return value


def test_a_list_without_end_is_cut() -> None:
    clean = redact(list(range(100_000)))

    assert isinstance(clean, list)
    assert MAX_NODES + 1 == len(clean) + 1
    assert "[left out]" == clean[-1]


@pytest.mark.parametrize("before", range(MAX_TEXT_CHARACTERS - 60, MAX_TEXT_CHARACTERS + 5, 5))
def test_a_secret_that_a_cut_goes_through_is_not_kept_in_half(before: int) -> None:
    clean = redact("." * before + "ghp_" + LONG)

    assert "ghp_" not in str(clean)


def test_the_texts_of_one_value_are_bounded_together() -> None:
    clean = redact(["a " * 8_000] * 1_000)

    assert len(str(clean)) < 2 * MAX_ALL_CHARACTERS


@pytest.mark.parametrize(
    "unit",
    [
        "eyJ-",
        "password",
        "token_",
        "://a:b",
        "sk-",
        "-----BEGIN PRIVATE KEY-----",
        "bearer ",
        "-u a",
        "gh",
        "M-",
        "a=b:",
        "SG.",
        "--a-",
    ],
)
def test_no_text_makes_a_pattern_look_at_the_same_place_again_and_again(unit: str) -> None:
    # No clock: a pattern that were quadratic here would take very long.
    assert redact_text(unit * (300_000 // len(unit))) is not None
