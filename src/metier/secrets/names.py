"""Which names a skill may have a value for, and the file that keeps them as text. Pure.

**The line.** What an agent's host pays for its own models with is never given to a skill, whatever the skill declares and
wherever the value is kept (HE-20): every variable of a model provider or of a gateway to one, and
metier's own. The keys of services that a skill works with (weather, tickets, code hosting) are its
business, and so are those of a cloud, except while the host reaches its model through that very
cloud. A skill that needs a model key for honest work asks for one of its own, under a name of its
own.
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PREFIX = "ZEPH_SECRET_"
"""`ZEPH_SECRET_X` is the value of X (ZE-42)."""
MAX_NAME_CHARS = 128
MAX_VALUE_BYTES = 32 * 1024
"""The longest value."""

FAMILIES = (
    "AI21_",
    "AIDER_",
    "AIHUBMIX_",
    "AI_GATEWAY_",
    "AMP_",
    "ANTHROPIC_",
    "ANYSCALE_",
    "ARK_API_",
    "AUGMENT_",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_BEDROCK_",
    "AZURE_AI_",
    "AZURE_OPENAI_",
    "BASETEN_",
    "BEDROCK_",
    "CEREBRAS_",
    "CHATGPT_",
    "CHUTES_",
    "CLAUDE_",
    "CLINE_",
    "CODEIUM_",
    "CODEX_",
    "COHERE_",
    "COPILOT_",
    "CURSOR_",
    "DASHSCOPE_",
    "DEEPINFRA_",
    "DEEPSEEK_",
    "DOUBAO_",
    "FACTORY_API_",
    "FEATHERLESS_",
    "FIREWORKS_",
    "FRIENDLI_",
    "GEMINI_",
    "GITHUB_COPILOT_",
    "GITHUB_MODELS_",
    "GLM_",
    "GOOGLE_AI_",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_",
    "GOOGLE_GENAI_",
    "GOOGLE_GENERATIVE_AI_",
    "GOOSE_",
    "GROK_",
    "GROQ_",
    "HELICONE_",
    "HERMES_",
    "HF_",
    "HUGGINGFACEHUB_",
    "HUGGINGFACE_",
    "HUGGING_FACE_",
    "HUNYUAN_",
    "HYPERBOLIC_",
    "KILOCODE_",
    "KILO_",
    "KIMI_",
    "LEPTON_",
    "LITELLM_",
    "LLAMA_API_",
    "LLM_",
    "LMSTUDIO_",
    "LM_STUDIO_",
    "MINIMAX_",
    "MISTRAL_",
    "MOONSHOT_",
    "NEBIUS_",
    "NOUS_",
    "NOVITA_",
    "NVIDIA_API_",
    "NVIDIA_NIM_",
    "OLLAMA_",
    "OPENAI_",
    "OPENCLAW_",
    "OPENCODE_",
    "OPENROUTER_",
    "OPEN_AI_",
    "PERPLEXITYAI_",
    "PERPLEXITY_",
    "POE_API_",
    "PORTKEY_",
    "QIANFAN_",
    "QWEN_",
    "REKA_",
    "REPLICATE_",
    "REQUESTY_",
    "SAMBANOVA_",
    "SILICONFLOW_",
    "STEPFUN_",
    "TOGETHERAI_",
    "TOGETHER_",
    "UPSTAGE_",
    "VENICE_",
    "VERCEL_AI_GATEWAY_",
    "VERTEXAI_",
    "VERTEX_",
    "VLLM_",
    "VOLCENGINE_",
    "VOLC_",
    "VOYAGE_",
    "WATSONX_",
    "WINDSURF_",
    "XAI_",
    "ZAI_",
    "ZENMUX_",
    "ZEPH_",
    "ZHIPUAI_",
    "ZHIPU_",
)
"""Beginnings of the variables of model providers, of gateways to them, and of agents that use
them."""
EXACT = frozenset(
    {"AZURE_API_KEY", "CO_API_KEY", "DATABRICKS_TOKEN", "GOOGLE_CLOUD_API_KEY", "PPLX_API_KEY"}
)
OWN_PREFIX = "METIER_"
CLOUDS = (
    ("AWS_", ("CLAUDE_CODE_USE_BEDROCK", "AWS_BEARER_TOKEN_BEDROCK")),
    ("GOOGLE_", ("CLAUDE_CODE_USE_VERTEX", "GOOGLE_GENAI_USE_VERTEXAI")),
    ("AZURE_", ("CLAUDE_CODE_USE_FOUNDRY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT")),
)
"""Clouds whose variables are the host's own while one of the signs beside them is set: it reaches
its model there."""


def is_name(name: str) -> bool:
    """Tell whether this can be the name of a variable (HE-19)."""
    return len(name) <= MAX_NAME_CHARS and name.isascii() and name.isidentifier()


def own_name(name: str) -> str:
    """Give the name under which a skill sees a value: without the prefix that another agent keeps
    it under.
    """
    while name[: len(PREFIX)].upper() == PREFIX:
        name = name[len(PREFIX) :]
    return name


def refusal(name: str, env: Mapping[str, str], also: Iterable[str] = ()) -> str:
    """Say why no skill gets this variable; nothing when one may. Letters count in either case, as
    they do on Windows.

    `also` are names that a configuration adds.
    """
    upper = own_name(name).upper()
    if not is_name(name) or not is_name(upper):
        return "it is not the name of a variable"
    if upper.startswith(OWN_PREFIX):
        return "it is metier's own"
    if upper in EXACT or upper.startswith(FAMILIES):
        return "it belongs to the agent's model provider, and no skill gets those credentials"
    if upper in {own_name(one).upper() for one in also}:
        return "your configuration keeps it from every skill"
    for beginning, signs in CLOUDS:
        sign = sign_of(signs, env) if upper.startswith(beginning) else ""
        if sign:
            return (
                f"the host reaches its model through it ({sign} is set), and no skill is given "
                f"the host's credentials"
            )
    return ""


def sign_of(signs: Iterable[str], env: Mapping[str, str]) -> str:
    """Give the first of these variables that is set; nothing when none is."""
    return next((sign for sign in signs if env.get(sign)), "")


def in_environment(name: str, env: Mapping[str, str]) -> str:
    """Give the value that the process environment has for a name; nothing when it has none."""
    return env.get(name) or env.get(PREFIX + name) or ""


def wrong_with(value: str) -> str:
    """Say what is wrong with a value; nothing when it may be kept."""
    if not value.strip():
        return "it is empty"
    if "\0" in value or "\n" in value or "\r" in value:
        return "it has a line break or a NUL in it"
    try:
        size = len(value.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return "it is not text"
    return f"it has more than {MAX_VALUE_BYTES // 1024} KiB" if size > MAX_VALUE_BYTES else ""


# --- the file: one `NAME="value"` a line; nothing is ever expanded in a value


def values_in(text: str) -> dict[str, str]:
    """Read every value; of two lines with one name the last counts. What is no such line is passed
    over.
    """
    found: dict[str, str] = {}
    for line in text.split("\n"):
        name = _name_of(line)
        if name:
            found[name] = _value_of(line.partition("=")[2].strip())
    return found


def names_in(text: str) -> dict[str, bool]:
    """Read the names, each with whether there is a value; no value is kept for it."""
    return {name: bool(value.strip()) for name, value in values_in(text).items()}


MAX_SHOWN_FAULTS = 5


def faults_in(text: str) -> list[str]:
    """Say which lines are neither `NAME=value`, a comment nor empty. Nothing of a line is shown: it
    may be a secret.
    """
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#") or _name_of(line):
            continue
        why = "its name is not that of a variable" if "=" in line else "it has no ="
        found.append(f"line {number} is skipped: {why}")
    more = len(found) - MAX_SHOWN_FAULTS
    if more > 0:
        found[MAX_SHOWN_FAULTS:] = [f"and {more:,} more lines like that"]
    return found


def with_value(text: str, name: str, value: str) -> str:
    """Give the text with one value set; every other line stays as it is."""
    kept = without(text, name)
    return f'{kept}{"" if not kept or kept.endswith(chr(10)) else chr(10)}{name}="{value.translate(_ESCAPES)}"\n'


def without(text: str, name: str) -> str:
    """Give the text without a name."""
    lines = text.split("\n")
    return "\n".join(line for line in lines if _name_of(line) != name)


def _name_of(line: str) -> str:
    """Give the name that a line sets; nothing for a comment or anything else."""
    name, equals, _rest = line.partition("=")
    name = name.strip().removeprefix("export ").strip() if equals else ""
    return name if name and is_name(name) else ""


def _value_of(written: str) -> str:
    if written[:1] == "'" and written[-1:] == "'" and len(written) > 1:
        return written[1:-1]
    if written[:1] == '"' and written[-1:] == '"' and len(written) > 1:
        return _unescaped(written[1:-1])
    return "" if written.startswith("#") else written.partition(" #")[0].rstrip()


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_MEANT = {"n": "\n", "r": "\r"}


def _unescaped(written: str) -> str:
    parts = iter(written)
    return "".join(
        _MEANT.get(after, after) if char == "\\" and (after := next(parts, "\\")) else char
        for char in parts
    )
