"""The tables of the configuration, each with its defaults."""

from __future__ import annotations

from metier.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from metier.model import Scope


PROMPT_ORDER: tuple[Scope, ...] = ("system", "admin", "project", "user", "plugin", "external", "package")
"""In which order a prompt lists scopes (CX-53); what is not named comes after."""


MOST_WEIGHT = 10
"""The most that a weight of `route` may be: far more than words ever give."""


class Prompting(NamedTuple):
    """How skills are told to a model."""

    budget: int = 0
    """Tokens for the catalogue; 0 takes a share of the window, or the default."""
    window: int = 0
    """The model's context in tokens; 0 when it is not known."""
    format: str = "xml"
    order: tuple[Scope, ...] = PROMPT_ORDER
    include: bool = True
    """Whether models are told of skills at all (CX-56)."""
    names_only: tuple[str, ...] = ()
    """Categories whose skills are listed by name alone (HE-25)."""
    reliability: bool = False
    """Whether a skill's line says how often its scripts were run and how often that went well (ZE-37)."""


class Managing(NamedTuple):
    """What an agent may do to skills by itself (HE-47)."""

    review: str = "caution"
    """`never`, `caution` (what a scan does not call safe) or `always`: which changes wait for a person."""
    pinned: tuple[str, ...] = ()
    """Skills that no agent deletes."""


class Routing(NamedTuple):
    """How skills are found for a task. Each weight is what the best of its kind adds to a score; 0 leaves it out."""

    vectors: str = "auto"
    """`auto`: meaning counts as well as words where an embedder is installed; `off`: words alone."""
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
    muted: tuple[str, ...] = ()
    """Skills whose observation triggers never fire."""
    muted_until: tuple[tuple[str, str], ...] = ()
    """Skills whose observation triggers do not fire before a time."""


class Supply(NamedTuple):
    """How skills are fetched, and how far metier goes by itself. Every limit is of one fetch."""

    fast_forward: bool = False
    """Whether an update that meets no edits applies without a question; never one with a worse verdict or new capabilities."""
    hosts: tuple[str, ...] = ()
    """The only hosts that may be reached; empty: those that a source names, and those it redirects to."""
    private_hosts: tuple[str, ...] = ()
    """Hosts that may be reached although their addresses are private, each with its port where that is not the usual one."""
    taps: tuple[str, ...] = ()
    """Repositories that `search` looks through and plain names are found in, written as for `add`."""
    registries: tuple[str, ...] = ()
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


class Plugging(NamedTuple):
    """Where plugins are looked for, and how long one waits for another."""

    sources: tuple[str, ...] = ()
    """Folders and repositories with plugins or marketplaces, written as for `add`."""
    wait_seconds: int = 10
    """How long a change waits while another process changes skills (BE-1)."""
