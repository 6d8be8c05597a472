"""Who may have which variable, and the text that keeps values."""

from __future__ import annotations

import pytest

from metier.secrets.names import (
    MAX_VALUE_BYTES,
    in_environment,
    is_name,
    names_in,
    own_name,
    refusal,
    values_in,
    with_value,
    without,
    wrong_with,
)

HOST = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OPENAI_API_KEY",
    "OPENAI_ORG_ID",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "AZURE_API_KEY",
    "MISTRAL_API_KEY",
    "GROQ_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
    "OPENROUTER_API_KEY",
    "COHERE_API_KEY",
    "CO_API_KEY",
    "HUGGINGFACE_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "HF_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "TOGETHER_API_KEY",
    "FIREWORKS_API_KEY",
    "PERPLEXITY_API_KEY",
    "AMP_API_KEY",
    "FACTORY_API_KEY",
    "CLINE_API_KEY",
    "KILO_API_KEY",
    "WINDSURF_API_KEY",
    "AUGMENT_SESSION_AUTH",
    "ARK_API_KEY",
    "VOLCENGINE_API_KEY",
    "POE_API_KEY",
    "LM_STUDIO_API_KEY",
    "DATABRICKS_TOKEN",
    "ZENMUX_API_KEY",
    "BASETEN_API_KEY",
    "OPEN_AI_API_KEY",
    "METIER_HOME",
    "METIER_CONFIG",
    "ZEPH_SECRET_OPENAI_API_KEY",
    "ZEPH_SECRET_ZEPH_SECRET_OPENAI_API_KEY",
    "openai_api_key",
    "Hf_Token",
]
SERVICES = [
    "OPENWEATHER_API_KEY",
    "GITHUB_TOKEN",
    "GITLAB_TOKEN",
    "LINEAR_API_KEY",
    "STRIPE_API_KEY",
    "NOTION_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_MAPS_API_KEY",
    "AZURE_DEVOPS_PAT",
    "MY_OPENAI_API_KEY",
    "ZEPH_SECRET_GITHUB_TOKEN",
    "_X",
    "AMPLITUDE_API_KEY",
    "FACTORY_FLOOR_TOKEN",
    "DATABRICKS_HOST",
    "POET_KEY",
]


@pytest.mark.parametrize("name", HOST)
def test_the_credentials_of_the_host_s_models_are_refused(name: str) -> None:  # HE-20
    assert refusal(name, {})


@pytest.mark.parametrize("name", SERVICES)
def test_the_keys_of_services_that_skills_work_with_are_not(name: str) -> None:
    assert "" == refusal(name, {})


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        ("AWS_ACCESS_KEY_ID", "CLAUDE_CODE_USE_BEDROCK"),
        ("AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "CLAUDE_CODE_USE_VERTEX"),
        ("AZURE_CLIENT_SECRET", "AZURE_OPENAI_ENDPOINT"),
    ],
)
def test_a_cloud_s_keys_are_the_host_s_own_while_its_model_is_there(name: str, sign: str) -> None:
    assert sign in refusal(name, {sign: "1"})
    assert "" == refusal(name, {sign: ""})
    assert "" == refusal("GITHUB_TOKEN", {sign: "1"})


def test_a_configuration_can_refuse_more() -> None:
    assert refusal("Corp_Token", {}, ["CORP_TOKEN"])
    assert "" == refusal("OTHER", {}, ["CORP_TOKEN"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("A_1", True),
        ("_", True),
        ("1A", False),
        ("", False),
        ("A-B", False),
        ("A B", False),
        ("Ä", False),
        ("A\n", False),
        ("A" * 129, False),
    ],
)
def test_names_are_those_of_variables(name: str, expected: bool) -> None:  # HE-19
    assert expected == is_name(name)
    assert expected or refusal(name, {})


def test_another_agent_s_prefix_is_taken_off() -> None:  # ZE-42
    assert ("X", "X", "") == (own_name("ZEPH_SECRET_X"), own_name("X"), own_name("ZEPH_SECRET_"))
    assert ("a", "b", "") == tuple(
        in_environment(name, {"A": "a", "ZEPH_SECRET_B": "b"}) for name in "ABC"
    )
    assert refusal("ZEPH_SECRET_", {})


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ("fine", ""),
        (" fine ", ""),
        ("", "it is empty"),
        ("  \t", "it is empty"),
        ("a\nb", "it has a line break or a NUL in it"),
        ("a\0", "it has a line break or a NUL in it"),
        ("\ud800", "it is not text"),
        ("x" * (MAX_VALUE_BYTES + 1), "it has more than 32 KiB"),
        ("x" * MAX_VALUE_BYTES, ""),
    ],
)
def test_a_value_that_cannot_be_kept_is_said_to_be_wrong_without_being_shown(
    value: str, wrong: str
) -> None:
    assert wrong == wrong_with(value)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("A=b", {"A": "b"}),
        ("export A = b # why", {"A": "b"}),
        ("A=", {"A": ""}),
        ("A='b\\n'", {"A": "b\\n"}),
        ('A="b\\n\\"c\\" \\\\ $HOME ${X} `id`"', {"A": 'b\n"c" \\ $HOME ${X} `id`'}),
        ('A="', {"A": '"'}),
        ("# A=b", {}),
        ("A-B=c", {}),
        ("no equals", {}),
        ("A=1\nA=2", {"A": "2"}),
    ],
)
def test_the_text_is_read_line_by_line_and_nothing_is_expanded(
    line: str, expected: dict[str, str]
) -> None:
    assert expected == values_in(line)


def test_names_are_read_with_whether_there_is_a_value() -> None:
    assert {"A": True, "B": False, "C": False, "D": False} == names_in(
        "A=1\nB=\nC=''\nD=  # nothing\n"
    )


def test_a_change_leaves_every_other_line_as_it_is() -> None:
    text = "# mine\n\nA='1'\nexport B=2\nodd line"

    assert text + '\nC="3"\n' == with_value(text, "C", "3")
    assert '# mine\n\nexport B=2\nodd line\nA="x"\n' == with_value(text, "A", "x")
    assert "# mine\n\nA='1'\nodd line" == without(text, "B")
    assert text == without(text, "absent")
