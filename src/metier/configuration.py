"""Reading what holds here: configuration files in their layers, the project, and packages that ship skills."""

from __future__ import annotations

from functools import partial

from metier import pipeline
from metier.catalogue import snapshot
from metier.discover import disk, env as host
from metier.discover.scopes import project_root_candidates
from metier.errors import ConfigError
from metier.light import TYPE_CHECKING
from metier.settings import ELSEWHERE, merge

if TYPE_CHECKING:
    from metier.finding import Finder
    from metier.ports import Analyzer
    from metier.settings import Settings, Source
    from metier.trust.policy import Policy
    from metier.wiring import Wired


def read(library: Wired) -> tuple[Settings, str]:
    """Merge the layers of configuration that hold here, and find the project."""
    sources = [source for source in (
        host.read_config(host.ORGANISATION_CONFIG, "organisation"),
        host.read_config(library.config, "user") if library.config else None,
    ) if source is not None]  # fmt: skip
    named = library.env.get("METIER_CONFIG")
    if named and not any(source.path == named for source in sources):
        raise ConfigError(f"METIER_CONFIG names {named}, which does not exist", hint="create it or unset METIER_CONFIG")
    settings = merge(sources, library.rules)
    project = host.project_root(project_root_candidates(library.cwd), settings.root_markers)
    narrowing = _project_source(library, project)
    settings = merge([*sources, narrowing], library.rules) if narrowing else settings
    library.sources = (*sources, narrowing) if narrowing else tuple(sources)
    return settings._replace(rules=tuple(host.canonical_rule(rule, library.home) for rule in settings.rules)), project


def _project_source(library: Wired, project: str) -> Source | None:
    """Read the project's own file. A stranger's broken file is a warning, never the end of a listing."""
    try:
        return host.read_config(f"{project}/{host.PROJECT_CONFIG}", "project")
    except ConfigError as error:
        library.warnings.append(error.message)
        return None


def packages(library: Finder) -> tuple[str, ...]:
    """Give the folders of skills that installed packages ship, as known from their records."""
    found: list[str] = []
    for site in host.site_folders(library.project, library.env):
        records = host.records(site)
        stats = [disk.key_of(record) for record in records]
        name = pipeline.name_of(library.edition, "packages", site, stats)
        kept = snapshot.opened(library.shelf.load(name))
        shipped = kept[1] if kept else host.shipped_skills(site, records)
        if kept is None:
            library.later.append(partial(library.shelf.save, name, snapshot.sealed(shipped, bytes(16))))
        found += shipped
    return tuple(found)


def trust_sources(library: Wired) -> list[Source]:
    """Give the configuration files that speak of trust, weakest first."""
    return [source for source in library.sources if ELSEWHERE in source.values]


def trust_policy(library: Wired) -> Policy:
    """Read the `[trust]` tables of all layers."""
    from metier.trust.config import read_trust
    from metier.trust.policy import Policy

    policy = Policy()
    for source in trust_sources(library):
        policy = read_trust(source.values[ELSEWHERE], source, policy)
    return policy


def analyzers(library: Wired) -> tuple[Analyzer, ...]:
    """Give the analyzers that a scan uses beside its own: the caller's, and the rules that configuration names."""
    if not library.settings.scan_rules:
        return library.analyzers
    from metier.scan.custom import patterns_of

    found: list[Analyzer] = list(library.analyzers)
    for told_by, file in library.settings.scan_rules:
        path = disk.absolute(file, told_by.rpartition("/")[0], library.home)
        source = host.read_config(path, "user")
        if source is None:
            raise ConfigError(f"{told_by} names the rules {path}, which do not exist",
                              hint="create the file, or take it out of scan.rules")  # fmt: skip
        found.append(patterns_of(source))
    return tuple(found)
