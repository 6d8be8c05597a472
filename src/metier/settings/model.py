"""The tables of the configuration, each with its defaults."""

from __future__ import annotations

from metier.fast import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from metier.model import Scope, Texts


PROMPT_ORDER: tuple[Scope, ...] = (
    "system",
    "admin",
    "project",
    "user",
    "plugin",
    "external",
    "package",
)
"""In which order a prompt lists scopes (CX-53); what is not named comes after."""


DEFAULT_TAPS = (
    "anthropics/skills",
    "openai/skills",
    "huggingface/skills",
    "NVIDIA/skills",
    "vercel-labs/agent-skills",
    "hashicorp/agent-skills",
)
"""Repositories of well-known makers, which `search` looks through unless they are taken out."""
MOST_WEIGHT = 10
"""The most that a weight of `route` may be: far more than words ever give."""


class PromptSettings(NamedTuple):
    """How skills are told to a model."""

    budget: int = 0
    """Tokens for the catalogue; 0 takes a share of the window, or the default."""
    window: int = 0
    """The model's context in tokens; 0 when it is not known."""
    format: str = "xml"
    order: tuple[Scope, ...] = PROMPT_ORDER
    include: bool = True
    """Whether models are told of skills at all (CX-56)."""
    names_only: Texts = ()
    """Categories whose skills are listed by name alone (HE-25)."""
    reliability: bool = False
    """Whether a skill's line says how often its scripts were run and how often that went well
    (ZE-37)."""


class ManageSettings(NamedTuple):
    """What an agent may do to skills by itself (HE-47)."""

    review: str = "caution"
    """`never`, `caution` (what a scan does not call safe) or `always`: which changes wait for a
    person."""
    pinned: Texts = ()
    """Skills that no agent deletes."""


class FindSettings(NamedTuple):
    """How skills are found for a task. Each weight is what the best of its kind adds to a score; 0
    leaves it out.
    """

    vectors: str = "auto"
    """`auto`: meaning counts as well as words where an embedder is installed; `off`: words
    alone."""
    background: bool = True
    """Whether `find` may leave vectors to a process in the background, which goes on after the
    answer."""
    trust: float = 0.0
    """For skills of those whom the user trusts."""
    readiness: float = 0.3
    """Against skills that lack something they need."""
    usage: float = 0.0
    """For skills whose runs went well."""
    scope: float = 0.0
    """For skills of the stronger scope."""
    observe: bool = False
    """Whether observation triggers are looked at at all (CO-22)."""
    muted: Texts = ()
    """Skills whose observation triggers never fire."""
    muted_until: tuple[tuple[str, str], ...] = ()
    """Skills whose observation triggers do not fire before a time."""


class JudgeSettings(NamedTuple):
    """A model of the user's own that a scan asks about passages. No project's file changes any of
    it.
    """

    url: str = ""
    """An OpenAI-compatible endpoint, up to `/v1`; nothing: none is asked."""
    model: str = ""
    key_env: str = ""
    """The variable, or the kept secret, that holds the endpoint's key; the key itself is never
    written here."""
    command: Texts = ()
    """A program with its arguments, asked in the place of an endpoint."""
    answer_as: str = "json_schema"
    """How the endpoint is told to answer: `json_schema`, `json_object`, or `text`."""
    timeout: int = 60
    """Seconds that one skill's answer may take."""
    max_passages: int = 24
    """Passages of one skill that are sent at most."""
    allow_http: bool = False
    """Whether passages may go to another machine without encryption."""


class SupplySettings(NamedTuple):
    """How skills are fetched, and how far metier goes by itself. Every limit is of one fetch."""

    fast_forward: bool = False
    """Whether an update that meets no edits applies without a question; never one with a worse
    verdict or new capabilities."""
    hosts: Texts = ()
    """The only hosts that may be reached; empty: those that a source names, and those it redirects
    to."""
    private_hosts: Texts = ()
    """Hosts that may be reached although their addresses are private, each with its port where that
    is not the usual one."""
    taps: Texts = ()
    """Repositories that `search` looks through and plain names are found in, written as for
    `add`."""
    default_taps: Texts = DEFAULT_TAPS
    """Well-known repositories that `search` looks through as well, and nothing else does; empty:
    none."""
    registries: Texts = ()
    """Registries that `search` asks: `clawhub:https://...`, or a site with a well-known index."""
    bundled: bool = True
    """Whether skills that come with a host are installed and kept current (CX-36)."""
    download_bytes: int = 256 * 1024 * 1024
    unpacked_bytes: int = 512 * 1024 * 1024
    file_bytes: int = 64 * 1024 * 1024
    files: int = 50_000
    ratio: int = 200
    """How many times its packed size an archive may unfold to."""
    redirects: int = 5
    seconds: int = 120
    """How long one fetch may take."""
    search_seconds: int = 10
    """How long `search` waits for all sources together."""


class PluginSettings(NamedTuple):
    """Where plugins are looked for, and how long one waits for another."""

    sources: Texts = ()
    """Folders and repositories with plugins or marketplaces, written as for `add`."""
    wait_seconds: int = 10
    """How long a change waits while another process changes skills (BE-1)."""


class RunSettings(NamedTuple):
    """What scripts of skills may do at most, and under which conditions. No project's file changes
    any of it.
    """

    allow_unsandboxed: bool = False
    """Whether `--unsandboxed` exists (MT-24)."""
    network: str = "never"
    """Which skills that declare it reach the network: `none` (not even with a yes to one run),
    `never` (only with one), `trusted` ones, or all, `declared`."""
    reads: Texts = ()
    """Folders that skills may read where they declare it."""
    writes: Texts = ()
    """Folders that skills may change where they declare it."""
    secrets: str = "environment"
    """How a secret reaches a script: as a variable, or as a `file` whose name stands in the
    variable NAME_FILE."""
    interpreters: Texts = ()
    """Programs that a script's first line may name, beyond those that metier knows."""
    dependencies: str = "ask"
    """Whether what a Python script declares (PEP 723) is installed: after a yes to `ask`, `allow`,
    or `never`."""
    packages_from: str = ""
    """Where such dependencies come from: an index, or a folder of wheels; nothing means PyPI."""
    in_process: Texts = ()
    """Trust levels whose code skills run inside this very process: `builtin`, `own`, `trusted`."""
    auto: Texts = ()
    """Code skills that a message alone may set off (CO-20)."""
    hook_ms: int = 500
    """How long a hook may take (CO-19)."""
    seconds: int = 120
    memory_bytes: int = 1024 * 1024 * 1024
    processes: int = 64
    output_bytes: int = 4 * 1024 * 1024
    scratch_bytes: int = 256 * 1024 * 1024
    file_bytes: int = 256 * 1024 * 1024
    lent_bytes: int = 1024 * 1024 * 1024
    """What a run may add to folders that it is lent to change."""


class UpstreamServer(NamedTuple):
    """Another MCP server whose skills are served as well."""

    name: str
    """What its skills' names begin with."""
    place: str
    """Its address, or `stdio:` and a command that is started outside the sandbox."""
    token: str = ""
    """The variable, or the kept secret, that holds its token; the token itself is never written
    here."""
    header: str = ""
    """The header that the token goes into as it is; nothing: `Authorization`, after `Bearer`."""


MAX_UPSTREAM_NAME_CHARS = 32


def upstream_name_fault(name: str) -> str:
    """Say why a name is none for an upstream; nothing when it is one."""
    letters = name.replace("-", "a")
    if letters.isascii() and letters.isalnum() and name == name.lower() and name[0] != "-":
        return "" if len(name) <= MAX_UPSTREAM_NAME_CHARS else "is too long a name"
    return "can't be the name of an upstream: use small letters, digits and dashes"


class ServeSettings(NamedTuple):
    """What agents get over MCP (CO-21). No project's file changes any of it."""

    run: bool = False
    """Whether the tool `run_skill_script` is there at all."""
    destructive: bool = False
    """Whether destructive code skills may be run by it."""
    code: bool = False
    """Whether code skills that say nothing about it are shown to agents; one that says no never
    is."""
    allowed: Texts = ()
    """Code skills that are shown although they say nothing about it."""
    blocked: Texts = ()
    """Skills that no agent gets; over standard input and output, in the place of the usual
    three."""
    http_blocked: Texts = ()
    """Skills that no agent gets over HTTP, beyond those that none ever does."""
    scripts: bool = True
    """Whether skills with scripts are shown where scripts cannot be run."""
    ttl_ms: int = 5_000
    """How long a client may take a listing for current without asking."""
    seconds: int = 30
    """How long one call of a skill may take."""
    upstreams: tuple[UpstreamServer, ...] = ()
    """Other MCP servers whose skills are served as well, each under a name of its own."""
    upstream_seconds: int = 30
    """How long one look at an upstream may take."""
    refresh_seconds: int = 60
    """How long it takes until an upstream is looked at again."""
