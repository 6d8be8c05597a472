"""metier: the skills system for AI agents.

>>> import metier
>>> with metier.open() as m:
...     for card in m.skills():
...         print(card.name, card.state, card.tokens)
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING

__version__ = "0.1.0"

_MODULES = {
    "metier.audit.chain": "AuditRecord VerifiedLog",
    "metier.author.manage": "Managed",
    "metier.author.model": "Draft",
    "metier.context": "Context Session",
    "metier.disclose.expand": "Expanded Preloaded SlashCommand",
    "metier.disclose.inspect": "InspectedFile InspectedSkill",
    "metier.disclose.model": "Package Section",
    "metier.disclose.pages": "Page",
    "metier.disclose.prompt": "Disclosure",
    "metier.disclose.provide": "GatheredPackages",
    "metier.disclose.read": "Loaded",
    "metier.discover.watch": "Watcher",
    "metier.doctor.examine": "AgentFacts DoctorReport",
    "metier.errors": "AmbiguousError ConfigError IntegrityError MetierError NotFoundError RefusedError "
    "SandboxError SourceError StoreError UsageError",
    "metier.find.model": "Confusion Hit IndexCandidate IndexQuery Indexed SkillMap SkillText",
    "metier.find.observation": "Observation Observed Watched",
    "metier.find.triggers": "Declined Dispatched Match SkillTriggers",
    "metier.library": "Library",
    "metier.model": "Body Card Category Change Checked Choice Diagnostic File Finding Problem Root Verdict Why",
    "metier.plugins.model": "Decided PluginList PluginResult ReviewCandidate Reviewed VersionedSkill",
    "metier.plugins.versions": "ViewedVersion",
    "metier.ports": "Analyzer Counter Drafts Embedder Engine Fetcher Hook Judge PassageReader Provider Ranker Runner Sandbox Seeker "
    "SkillObserver SignatureVerifier Tree",
    "metier.review.sides": "FileSides ReviewSides",
    "metier.run.model": "Cage CodeCall ConsentRequest Layer Ran RunEnded Veto",
    "metier.run.needs": "Prepared",
    "metier.run.observe.kept": "KeptObservation",
    "metier.run.observe.model": "SkillObservation Stage Try WatchLimits WatchRecord",
    "metier.run.observe.suggest": "RunSuggestion",
    "metier.run.plan": "RunPlan",
    "metier.run.preview": "RunPreview",
    "metier.scan.model": "RuleHit ScanRule",
    "metier.scan.waive": "Scanned",
    "metier.secrets.vault": "Vault",
    "metier.settings.merge": "Rule Settings",
    "metier.settings.model": "UpstreamServer",
    "metier.supply.join": "UpstreamLook",
    "metier.standard.needs": "Ask",
    "metier.store.io.tree_store": "Freed",
    "metier.supply.bundle": "BundledSkill",
    "metier.supply.history": "LockEntry",
    "metier.supply.merge.marked": "MarkedRegion RegionChoice",
    "metier.supply.merge.settle": "MergeStatus",
    "metier.supply.model": "Item LockedSkill Origin Outcome Request Revision SearchOutcome SearchResult SyncOutcome",
    "metier.supply.hubs": "HubLogin",
    "metier.supply.policy_update": "PolicyUpdate",
    "metier.supply.publish": "PackedSkill PublishedIndex",
    "metier.supply.push": "PushedSkill",
    "metier.supply.records.exchange": "ExchangeOutcome",
    "metier.supply.search": "Tap",
    "metier.supply.tree": "SkillNeeds",
    "metier.supply.upstream": "UpstreamStatus",
    "metier.trust.approve": "TrustedSource",
    "metier.trust.assess": "Trusted",
    "metier.trust.explain_policy": "Explained PolicyReport",
    "metier.trust.sign": "Signed",
    "metier.trust.code_lists": "ManifestCheck",
    "metier.trust.io.decisions_file": "TrustRepair",
    "metier.trust.waivers": "GivenWaiver",
    "metier.usage.report": "Usage",
}
"""Every public class, by the module that defines it."""
_HOMES = {
    "open": ("metier.library", "open_library"),
    "tools": ("metier.disclose.tools", "*"),
    **{name: (module, name) for module, names in _MODULES.items() for name in names.split()},
}

__all__ = [
    "AgentFacts",
    "AmbiguousError",
    "Analyzer",
    "Ask",
    "AuditRecord",
    "Body",
    "BundledSkill",
    "Cage",
    "Card",
    "Category",
    "Change",
    "Checked",
    "Choice",
    "CodeCall",
    "ConfigError",
    "Confusion",
    "ConsentRequest",
    "Context",
    "Counter",
    "Decided",
    "Declined",
    "Diagnostic",
    "Disclosure",
    "Dispatched",
    "DoctorReport",
    "Draft",
    "Drafts",
    "Embedder",
    "Engine",
    "ExchangeOutcome",
    "Expanded",
    "Explained",
    "Fetcher",
    "File",
    "FileSides",
    "Finding",
    "Freed",
    "GatheredPackages",
    "GivenWaiver",
    "Hit",
    "Hook",
    "HubLogin",
    "IndexCandidate",
    "IndexQuery",
    "Indexed",
    "InspectedFile",
    "InspectedSkill",
    "IntegrityError",
    "Item",
    "Judge",
    "KeptObservation",
    "Layer",
    "Library",
    "Loaded",
    "LockEntry",
    "LockedSkill",
    "Managed",
    "ManifestCheck",
    "MarkedRegion",
    "Match",
    "MergeStatus",
    "MetierError",
    "NotFoundError",
    "Observation",
    "Observed",
    "Origin",
    "Outcome",
    "Package",
    "PackedSkill",
    "Page",
    "PassageReader",
    "PluginList",
    "PluginResult",
    "PolicyReport",
    "PolicyUpdate",
    "Preloaded",
    "Prepared",
    "Problem",
    "Provider",
    "PublishedIndex",
    "PushedSkill",
    "Ran",
    "Ranker",
    "RefusedError",
    "RegionChoice",
    "Request",
    "ReviewCandidate",
    "ReviewSides",
    "Reviewed",
    "Revision",
    "Root",
    "Rule",
    "RuleHit",
    "RunEnded",
    "RunPlan",
    "RunPreview",
    "RunSuggestion",
    "Runner",
    "Sandbox",
    "SandboxError",
    "ScanRule",
    "Scanned",
    "SearchOutcome",
    "SearchResult",
    "Section",
    "Seeker",
    "Session",
    "Settings",
    "SignatureVerifier",
    "Signed",
    "SkillMap",
    "SkillNeeds",
    "SkillObservation",
    "SkillObserver",
    "SkillText",
    "SkillTriggers",
    "SlashCommand",
    "SourceError",
    "Stage",
    "StoreError",
    "SyncOutcome",
    "Tap",
    "Tree",
    "TrustRepair",
    "Trusted",
    "TrustedSource",
    "Try",
    "UpstreamLook",
    "UpstreamServer",
    "UpstreamStatus",
    "Usage",
    "UsageError",
    "Vault",
    "Verdict",
    "VerifiedLog",
    "VersionedSkill",
    "Veto",
    "ViewedVersion",
    "WatchLimits",
    "WatchRecord",
    "Watched",
    "Watcher",
    "Why",
    "__version__",
    "open",
    "tools",
]

if TYPE_CHECKING:
    from metier.audit.chain import AuditRecord, VerifiedLog
    from metier.author.manage import Managed
    from metier.author.model import Draft
    from metier.context import Context, Session
    from metier.disclose import tools
    from metier.disclose.expand import Expanded, Preloaded, SlashCommand
    from metier.disclose.inspect import InspectedFile, InspectedSkill
    from metier.disclose.model import Package, Section
    from metier.disclose.pages import Page
    from metier.disclose.prompt import Disclosure
    from metier.disclose.provide import GatheredPackages
    from metier.disclose.read import Loaded
    from metier.discover.watch import Watcher
    from metier.doctor.examine import AgentFacts, DoctorReport
    from metier.errors import (
        AmbiguousError,
        ConfigError,
        IntegrityError,
        MetierError,
        NotFoundError,
        RefusedError,
        SandboxError,
        SourceError,
        StoreError,
        UsageError,
    )
    from metier.find.model import (
        Confusion,
        Hit,
        IndexCandidate,
        Indexed,
        IndexQuery,
        SkillMap,
        SkillText,
    )
    from metier.find.observation import Observation, Observed, Watched
    from metier.find.triggers import Declined, Dispatched, Match, SkillTriggers
    from metier.library import Library, open_library as open  # noqa: A004
    from metier.model import (
        Body,
        Card,
        Category,
        Change,
        Checked,
        Choice,
        Diagnostic,
        File,
        Finding,
        Problem,
        Root,
        Verdict,
        Why,
    )
    from metier.plugins.model import (
        Decided,
        PluginList,
        PluginResult,
        ReviewCandidate,
        Reviewed,
        VersionedSkill,
    )
    from metier.plugins.versions import ViewedVersion
    from metier.ports import (
        Analyzer,
        Counter,
        Drafts,
        Embedder,
        Engine,
        Fetcher,
        Hook,
        Judge,
        PassageReader,
        Provider,
        Ranker,
        Runner,
        Sandbox,
        Seeker,
        SignatureVerifier,
        SkillObserver,
        Tree,
    )
    from metier.review.sides import FileSides, ReviewSides
    from metier.run.model import Cage, CodeCall, ConsentRequest, Layer, Ran, RunEnded, Veto
    from metier.run.needs import Prepared
    from metier.run.observe.kept import KeptObservation
    from metier.run.observe.model import (
        SkillObservation,
        Stage,
        Try,
        WatchLimits,
        WatchRecord,
    )
    from metier.run.observe.suggest import RunSuggestion
    from metier.run.plan import RunPlan
    from metier.run.preview import RunPreview
    from metier.scan.model import RuleHit, ScanRule
    from metier.scan.waive import Scanned
    from metier.secrets.vault import Vault
    from metier.settings.merge import Rule, Settings
    from metier.settings.model import UpstreamServer
    from metier.standard.needs import Ask
    from metier.store.io.tree_store import Freed
    from metier.supply.bundle import BundledSkill
    from metier.supply.history import LockEntry
    from metier.supply.hubs import HubLogin
    from metier.supply.join import UpstreamLook
    from metier.supply.merge.marked import MarkedRegion, RegionChoice
    from metier.supply.merge.settle import MergeStatus
    from metier.supply.model import (
        Item,
        LockedSkill,
        Origin,
        Outcome,
        Request,
        Revision,
        SearchOutcome,
        SearchResult,
        SyncOutcome,
    )
    from metier.supply.policy_update import PolicyUpdate
    from metier.supply.publish import PackedSkill, PublishedIndex
    from metier.supply.push import PushedSkill
    from metier.supply.records.exchange import ExchangeOutcome
    from metier.supply.search import Tap
    from metier.supply.tree import SkillNeeds
    from metier.supply.upstream import UpstreamStatus
    from metier.trust.approve import TrustedSource
    from metier.trust.assess import Trusted
    from metier.trust.code_lists import ManifestCheck
    from metier.trust.explain_policy import Explained, PolicyReport
    from metier.trust.io.decisions_file import TrustRepair
    from metier.trust.sign import Signed
    from metier.trust.waivers import GivenWaiver
    from metier.usage.report import Usage


def __getattr__(name: str) -> object:
    """Load a public name from its module when it is first asked for: `import metier` itself costs
    nothing.
    """
    if name not in _HOMES:
        raise AttributeError(f"module 'metier' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    value: object = import_module(module)
    if attribute != "*":  # the module itself
        value = getattr(value, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
