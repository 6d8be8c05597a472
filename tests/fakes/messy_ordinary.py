"""The ordinary skills of a messy machine: one line to a skill, with how it is written and where its copies and links lie."""

# ruff: noqa: RUF001 - people write in their own languages

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING, NamedTuple

from fakes.oddities import Content, Link

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Placed = Iterator[tuple[str, Content]]
    """Paths below the machine's folder, each with what lies there."""

# --- roots, by a short name: whose folder, and which agent's

_AGENTS = {
    "A": ".agents/skills", "C": ".claude/skills", "X": ".codex/skills", "G": ".gemini/skills",
    "O": ".opencode/skills", "H": ".hermes/skills", "D": ".deepagents/skills",
}  # fmt: skip
_FOLDERS = {
    "h": "home",
    "r": "repo",
    "m": "repo/services",
    "i": "repo/services/api",
    "o": "elsewhere/work",
}
ROOTS = {
    **{f + a: f"{folder}/{root}" for f, folder in _FOLDERS.items() for a, root in _AGENTS.items()},
    "hO": "home/.config/opencode/skills",
    "hD": "home/.deepagents/agent/skills",
    "S": "home/src/team-skills/skills",
    "T": "home/dotfiles/agents/skills",
}
"""The last two are stores that no agent reads by itself."""


def place(short: str) -> str:
    """Give a path below the machine's folder; it may begin with the short name of a root."""
    first, slash, rest = short.partition("/")
    return f"{ROOTS.get(first, first)}{slash}{rest}"


def link_to(path: str, target: str) -> Link:
    """Give the link that leads from one path of the machine to another, whatever folder it is made in."""
    return Link(os.path.relpath(target, os.path.dirname(path)))


# --- name | flags | places | description
#
# The first flag is how the description is written: p plain, d "double", s 'single', f >, g >-, l |, k |-, m plain over lines.
# Then: r CRLF, A allowed-tools, L license, Z LICENSE.txt, M metadata, V version, H metadata for Hermes, C compatibility,
# R references, S scripts, T assets and templates, O agents/openai.yaml, B a big body, Q comments in the frontmatter.
# A place is root[/category][mark]: no mark or = a copy, ~ a copy of an older version, @ a relative link to the first, @@ an
# absolute one.

_TABLE = r"""
pdf-processing | pLRSZ | S hA@ hC@ hX@ hG@ | Pulls text and tables out of PDFs, fills in their forms, joins several into one or cuts one apart. For anything where a PDF comes in or has to go out.
docx-editing | dLRSZ | S hA@ hC@ hO@ | Writes and changes Word documents without losing their look: styles, comments, tracked changes, footnotes. When Claude is handed a .docx file, it can: (1) start a new one from our letterhead, (2) edit the text in place, (3) accept or refuse tracked changes, (4) answer comments, and whatever else a colleague wants done in Word
xlsx-models | dLRS | S hA@ hC@ hD@ | For work in which a table is what comes in or what goes out. Typical requests: open somebody's .xlsx, .xlsm, .csv or .tsv and repair it (e.g., a column too many, a formula that points nowhere, dates stored as text); build a budget from nothing; turn one kind of table into another. NOT meant for letters, web pages, scripts that stand on their own, or anything that belongs into the warehouse, even if there is a table somewhere in it, since other skills know those better and this one only gets in their way.
pptx-decks | sLR | S hC@ hX@ | Presentation creation, editing, and analysis. When the user says "deck", "slides" or "presentation", use this skill: it knows our master template, the allowed layouts and how to render thumbnails for a visual check.
brand-guidelines | pLMT | S hA@ hC@ hH/creative@ | Puts our colours, our two typefaces and the right amount of white space onto whatever is being made. For slides, pages, posters and signatures that leave the house and should look as if they came from us.
internal-comms | gLR | S hC@ hH/productivity | Samples and rules for what we write to each other: the Friday note, the all-hands script, the sorry-we-broke-it mail. Take it for every text that stays inside the firm (status notes, letters from the board, newsletters, questions and answers, reviews of incidents, news of a project, etc.).
skill-creator | pLRS | hX/.system hA hC~ | How to write a skill that works. For people who begin a skill (or mend one that nobody's agent ever picks), from the first example over the description up to scripts and a trial run.
skill-installer | pMSO | hX/.system | Fetch skills for Codex and put them below $CODEX_HOME/skills, by name out of a list or from a repository on GitHub. For questions such as which ones there are, and for repositories that need a login (private ones too).
mcp-builder | pLRSZ | S hA@@ hC@@ | How we build MCP (Model Context Protocol) servers that a model can work with: few tools, good names, short answers, errors that say what to do next. For wrapping a service of ours or a foreign API, in Python (FastMCP) as well as in Node/TypeScript (MCP SDK).
webapp-testing | pLSA | hA hC= rA rC@ | Opens a web application on this machine with Playwright and clicks through it. Checks what is on the page, takes pictures of it, reads the console and says what looks wrong.
frontend-design | pLB | hC hA~ oC | Designs pages that do not look like everybody else's and writes them down as clean code. For new components, landing pages and whole applications. Picks a direction first, and says which and why.
canvas-art | pLT | hC | Makes posters and other pictures as .png or .pdf, beginning with an idea and not with a template. For a person who wants something to hang on the wall. Nothing is imitated: no living artist's manner, no well-known picture.
conventional-commits | pA | hA hC@ hX@ hG@ hO@ hD@ rA | Write commit messages that follow Conventional Commits 1.0.0. Use whenever the user asks to commit, amend, squash or reword; checks the staged diff first and proposes one commit per logical change.
code-review | gAM | hA hC~ rC | Review a pull request or local diff for correctness, security, performance and readability. Use when the user asks for a review, says "LGTM?", or pastes a diff. Produces findings ordered by severity with file and line references.
systematic-debugging | dR | hA hC= hH/software-development | For every bug, red test or odd result, ahead of any idea how to mend it: find the root cause first, form one hypothesis at a time, and prove it with the smallest experiment
test-driven-development | pR | hA hC= hH/software-development | For each new feature and each repair, while there is no code of it yet
writing-plans | p | hC hH/software-development | For tasks of several steps whose goal is clear, as long as no file has been changed
using-git-worktrees | p | hC hA@ | For features that should not disturb what lies in the working folder, or when a plan is about to be carried out - makes a worktree in a sensible place and looks first whether that is safe
verification-before-completion | p | hC hA@ | For the moment in which one wants to say that something works, is mended or is ready to be merged - the command that proves it is run once more and its output is read before anybody hears of it; first see, then say
dispatching-parallel-agents | p | hD | For 2+ tasks that do not touch the same files and of which none waits for another
kubernetes-troubleshooting | fMRC | T hA@ hH/devops@ rA | Diagnose failing pods, crash loops, pending PVCs, DNS problems and ingress errors in Kubernetes clusters. Use when the user shows kubectl output, mentions CrashLoopBackOff, ImagePullBackOff, OOMKilled, or asks why a deployment does not become ready.
terraform-modules | fMRS | T hA@ hX@ rX | Write, refactor and review Terraform modules for AWS and GCP. Covers state moves, provider pinning, for_each vs. count, and our naming rules. Use for any change below infra/ or when a plan shows an unexpected replacement.
helm-charts | dM | T hA@ hO@ | Author Helm charts: values schema, helpers, hooks, and upgrade-safe changes. Use when the user edits Chart.yaml, values.yaml or anything in templates/.
postgres-tuning | lMR | hA hX~ rA | Tune PostgreSQL queries and settings. Use when the user shows an EXPLAIN plan, reports a slow query, or asks about indexes, autovacuum, bloat, locks, or connection pooling.
sql-migrations | kA | rA rC@ rX@ rG@ rO@ rD@ | Write reversible, zero-downtime SQL migrations. Covers expand/contract, NOT VALID constraints, CONCURRENTLY, and backfills in batches. Use for every change below db/migrations.
api-design | dMR | rA rC= iA | Design REST and HTTP APIs: resource naming, pagination, idempotency keys, error bodies (RFC 9457), versioning and deprecation. Use when adding or changing an endpoint, or when reviewing an OpenAPI document.
openapi-lint | pAS | iA iC@ | Validate and lint the OpenAPI document of this service with Spectral and fix what it reports. Use before every release of the api service.
graphql-schema | p | rC iC~ | Evolve the GraphQL schema without breaking clients. Use when editing *.graphql files or resolvers; checks for removed fields, nullability changes and missing deprecations.
grpc-contracts | p | iA iX iG | Maintain protobuf contracts with buf. Use when .proto files change: runs breaking-change detection and regenerates stubs.
auth-flows | gR | iA iC= iO | Implement and debug OAuth 2.1 and OIDC flows in the api service: PKCE, refresh token rotation, device flow, and session revocation. Use when a login fails, a token is rejected, or a new client has to be registered.
load-testing | pS | iC iX | Write and run k6 load tests against staging, read the summary and compare it with the last baseline. Never run against production.
feature-flags | pM | rA rC@ iA~ | Add, roll out and remove feature flags. Use when shipping something behind a flag or when cleaning up stale flags older than two releases.
observability | fR | rA mA rX | Add traces, metrics and structured logs with OpenTelemetry. Use when instrumenting a service, when a dashboard lacks data, or when an alert fires without enough context to act on it.
incident-response | gRT | rA hH/devops | Run an incident: declare, assign roles, keep a timeline, communicate, mitigate, and write the review afterwards. Use when production is degraded, when the user says "we have an incident", or when a postmortem is due.
runbook-writer | pT | rC hH/devops | Write runbooks that a tired person can follow at 3 a.m.: symptoms, checks, actions, rollback, escalation.
release-notes | dA | rA rC= hA~ | Generate release notes from merged pull requests and commits since the last tag. Use when the user asks for a changelog, release notes, or "what changed since vX.Y".
changelog-keeper | s | rA | Keep CHANGELOG.md in the 'Keep a Changelog' format. Use when a user-visible change lands; it's the last step before opening a PR.
monorepo-navigator | m | rA rC@ | Explains where things live in this monorepo, which package owns what, how the build graph is wired and which commands to run in which folder. Use at the beginning of any task in an unfamiliar package, before grepping around.
python-packaging | pR | hA hD | Package Python projects with pyproject.toml, uv and hatchling. Use when publishing to PyPI, fixing build isolation errors, or converting setup.py projects.
pytest-patterns | gR | hA hC@ rA~ | Write maintainable pytest suites: fixtures, parametrisation, property-based tests with Hypothesis, snapshot tests and flaky-test hunting. Use when tests are added, slow, or unreliable.
pandas-recipes | pR | hA hD | Idiomatic pandas for cleaning, joining, reshaping and resampling data, with memory-friendly dtypes. Use for any DataFrame work over a few thousand rows.
matplotlib-style | pT | hG hH/data-science | House style for charts: fonts, colour-blind safe palettes, direct labels instead of legends, and export settings for print and web.
react-performance | fR | hA rC | Find and fix slow React renders with the profiler: memoisation, list virtualisation, suspense boundaries, server components and bundle splitting. Use when the UI feels slow, a profile is shown, or bundle size grows.
accessibility-audit | dRS | hA rA | Audit pages against WCAG 2.2 AA: keyboard traps, focus order, contrast, names and roles, live regions. Use when the user mentions a11y, screen readers, or axe results.
i18n-strings | p | rA rG@ | Extract user-visible strings, write ICU messages with plurals, and keep the locale files in sync.
email-templates | pT | hC oA | Build HTML e-mails that survive Outlook: tables, inline styles, dark mode, preheaders.
git-bisect-helper | pA | hA hX@ hG@ | Drive git bisect with a script: find a good commit, write the test, run it, and explain the culprit.
github-pr | pA | hA hC@ hH/github hO@ | Open, update and describe pull requests with gh. Use when the user says "open a PR", "update the description" or "request review".
github-issues | pH | hH/github | Open, sort, label and close issues on GitHub. Looks for twins first, finds somebody to take it, and names the PR that mends it. Uses gh where it is there, otherwise git + the REST API with curl.
github-code-review | pH | hH/github | Read somebody's diff on GitHub, write remarks at the lines they are about, and look through one's own before it is pushed.
github-actions-debug | gR | hA rA | Debug failing GitHub Actions workflows: read the logs, reproduce locally with act, fix caching, permissions and matrix problems. Use when CI is red or slow.
apple-notes | pHV | hH/apple | Apple Notes from the terminal by memo, on a Mac (new, read, find, change).
obsidian-vault | pHV | hH/note-taking hC~ | Finds, opens and writes notes of the vault in Obsidian.
notion-pages | dHV | hH/productivity hA | Pages, databases and blocks of Notion by its API, with curl and a token. Finds a page, adds one, changes a property, asks a database a question.
google-workspace | pHVS | hH/productivity | Mail, calendar, files, people, tables and texts at Google, for Hermes. Logs in once over OAuth2 and renews its token. Needs nothing but Google's own client library.
linear-tickets | pHV | hH/productivity hC@ | Tickets, projects and teams in Linear over GraphQL. Opens them, moves them on, finds and sorts them.
arxiv-search | pHVS | hH/research hA@ | Finds papers on arXiv and fetches them through the open interface. Works without a key. By words, by author, by field, or by number.
youtube-transcripts | pHVS | hH/media hA | Gets what is said in a video on YouTube and makes something to read of it (chapters, a short version, a thread, an article).
songwriting | pHV | hH/creative | Songwriting craft: structure, rhyme, hooks, and prompts for AI music generators.
ascii-diagrams | pHV | hH/creative hA~ | Draw boxes, arrows, trees and sequence diagrams in plain text, aligned in monospace, for READMEs and code comments.
excalidraw-sketches | pHVT | hH/creative | Sketches that look drawn by hand, as JSON for Excalidraw. Writes .excalidraw files with boxes and arrows, for the parts of a system, the steps of a process, who talks to whom, and so on.
mlops-lora | pHVR | hH/mlops/training | LoRA and QLoRA training of language models with PEFT. For models between 7B and 70B on the cards that one happens to have.
mlops-vllm-serving | pHVR | hH/mlops/inference | Put a language model behind an HTTP address with vLLM's paged cache and batches that never stop. For models that many people ask at once, for answers that come too late, or for cards with too little memory.
mlops-gguf | pHVR | hH/mlops/inference hA@ | Convert models to GGUF and quantise them with llama.cpp for CPU and consumer GPU inference.
mlops-eval-harness | pHVR | hH/mlops/evaluation | Run a language model through 60+ public tests (MMLU, HumanEval, GSM8K, TruthfulQA, HellaSwag). For the question which of two models is better, and for the table in the appendix.
web-research | gRS | hD rD | For questions whose answer lies somewhere on the web; splits them up, sends a subagent after each part, and makes one text with sources of what they bring back.
langgraph-docs | p | hD hA@ | For questions about LangGraph: looks up the page that answers them in its documentation and says from which version it is.
deep-report | gLM | hD oD | Plan, research and write a long report with sources. Splits the question, delegates the parts, checks contradictions and writes an executive summary first.
security-review | dAR | hA hC= rA | Perform a security review of pending changes: injection, authz gaps, secrets, SSRF, deserialisation, path traversal. Use before merging anything that touches input handling, or when the user says "is this safe?"
secrets-scan | pAS | hA rA@ | Scan the working tree and history for credentials with gitleaks and explain how to rotate what was found.
threat-modeling | gRT | rC | Build a STRIDE threat model from an architecture description. Use when a design doc is written or a trust boundary moves.
dependency-upgrades | pA | hA rA~ | Upgrade dependencies in small batches, read the changelogs, run the tests, and stop at the first red one.
gdpr-helper | dR | oC | Help with data-protection questions: records of processing, deletion requests, retention periods. Not legal advice: always suggests asking the DPO.
technical-writing | pR | hA oA | Edit technical prose for clarity: short sentences, active voice, one idea per paragraph, examples before abstractions. Use when the user asks to improve documentation, a README, or a design doc.
adr-writer | pT | rA rC | Record architecture decisions as short ADRs in docs/adr with status, context, decision, and consequences.
meeting-notes | m | oA oC= hH/productivity | Turn a transcript or rough notes into minutes with decisions, owners and dates. Use when the user pastes a transcript, mentions a meeting, or asks who promised what.
weekly-status | g | oA oC@ oG@ | Collect what happened this week from git, calendar and notes, and write a status update of at most 150 words. ✅ done, 🚧 in progress, ⛔ blocked.
invoice-organizer | pS | oA oX | Sort receipts and invoices into folders by year and vendor, extract totals and VAT, and write a CSV for the accountant.
resume-tailor | pT | oC oO | Tailor a CV to a job advert without inventing anything; shows what was changed and why.
übersetzung-de | p | hA hC@ | Übersetzt Texte zwischen Deutsch und Englisch, achtet auf Anrede (Sie/du), Fachbegriffe und Fußnoten. Verwenden, wenn der Nutzer um eine Übersetzung bittet.
deutsche-briefe | gr | oC oH | Schreibt förmliche Briefe nach DIN 5008: Anschrift, Betreff, Grußformel, Anlagen. Für Behörden, Vermieter und Versicherungen geeignet.
redaction-fr | d | hG oG@ | Rédige et corrige des textes en français : accords, typographie (espaces insécables, guillemets « »), ton. À utiliser dès que l'utilisateur écrit en français.
resumen-es | p | hG oG | Resume documentos largos en español en tres niveles: una frase, un párrafo y una página. Úsalo cuando el usuario pida un resumen o "lo más importante".
code-review-ja | p | hA hX@ | プルリクエストの差分を日本語でレビューします。バグ、セキュリティ、可読性の観点から指摘し、重要度順に並べます。「レビューして」と言われたら使ってください。
weekly-report-zh | g | oA oC@ | 根据本周的提交记录和任务列表生成中文周报，包含完成事项、风险与下周计划。当用户提到“周报”或“工作总结”时使用。
translate-ko | p | hG | 한국어와 영어 사이의 기술 문서 번역. 용어집을 먼저 확인하고 존댓말을 유지합니다.
korrektura-ru | p | hO | Проверяет русские тексты: орфография, пунктуация, стиль. Использовать, когда пользователь просит вычитать текст.
arabic-rtl-layout | p | hC | تدقيق واجهات المستخدم من اليمين إلى اليسار (RTL) واكتشاف مشاكل المحاذاة والأيقونات المعكوسة.
emoji-changelog | d | hG rG | ✨ Write gitmoji-style changelogs 🚀: ✨ feature, 🐛 fix, 📝 docs, ♻️ refactor. Use when the project already uses gitmoji.
windows-powershell | dr | hX hG | Write PowerShell 7 scripts that also run on Windows PowerShell 5.1. Use for paths like C:\Users, registry edits, scheduled tasks, and execution policy trouble.
excel-vba | gr | hC oC | Read and modernise VBA macros. Use when the user shares .xlsm or .bas files, or asks to replace a macro with Office Scripts.
sharepoint-lists | lrM | hX oX | Create and query SharePoint lists with PnP PowerShell. Use when the user mentions SharePoint, PnP or list views.
dotnet-upgrade | mrA | rX rA | Upgrade .NET Framework projects to .NET 8, one project at a time, with the upgrade assistant, package references and analyzers turned on, and a green build after every step.
shell-scripts | pAS | hA hC= hO | Write portable shell scripts that pass shellcheck: quoting, traps, set -euo pipefail, mktemp, and argument parsing.
nix-flakes | pQ | hX hA@ | Write and debug Nix flakes, dev shells and overlays.
vim-config | p | T hC@ | Maintain the Neovim configuration in Lua, lazy.nvim plugins and keymaps.
regex-explainer | s | hO hG | Explain, test and simplify regular expressions. Use when a user pastes something like '^(?:\d{3}-)?\d{4}$' and asks what it does or why it doesn't match.
jq-recipes | s | hA hX@ | Filter and reshape JSON with jq. Use when the user has JSON and wants "just the names" or 'a CSV of it'.
ffmpeg-cookbook | pR | hA hH/media | Convert, cut, join, caption and compress audio and video with ffmpeg. Use when a media file is too large, has the wrong format, or needs subtitles.
gemini-cli-helper | pA | hG | Answers questions about Gemini CLI itself, its settings.json, extensions, checkpoints and sandboxing.
opencode-plugins | pC | hO rO | Write OpenCode plugins and custom tools in TypeScript. Use when editing files below .opencode/.
opencode-release | lCM | rO | Tags a release and writes its notes, the same way each time. For the day of a release, and with a question first when it is not clear which number comes next.
codex-exec-batch | pO | hX rX | Run many small Codex tasks in a batch with codex exec, collect the results as JSON lines and retry the failed ones.
openai-docs | pMORT | hX/.system | For questions on how something is done with OpenAI's interfaces, answered from its pages with a link to each, for picking a model, and for moving from an old model to a newer one.
figma-implement | dMO | hX hC~ | Build in code what was drawn in Figma, to the pixel. For links to a frame or a node in Figma, and for screens that have to look exactly as drawn. Needs Figma's MCP server to be connected.
playwright-cli | dOS | hX rX | For pages that need a true browser, driven from a shell (open, fill in, look, take a picture, read out, find out why a click does nothing) with `playwright-cli` or with the script that lies beside it.
sentry-triage | pOA | hX iX | Look at issues in Sentry, say what broke in production lately, and how often, by a script that comes along.
yeet | dO | hX | Only for the explicit wish to do it all at once: add, commit, push and open the pull request on GitHub, by its command line (`gh`).
onboarding-guide | fTB | rA rC@ rG@ | Walk a new colleague through the first week: accounts, local setup, first build, first pull request. Use when somebody says they are new here or asks how to get started with this repository.
local-dev-setup | pS | rA iA | Start the whole stack locally with docker compose and seed data; fixes the ten most common problems.
stripe-webhooks | gR | iA iC@ iX@ | Handle Stripe webhooks in the api service: signature checks, idempotency, retries, and replaying events with the stripe CLI. Use when payments or subscriptions behave oddly.
api-error-codes | p | iC iG~ | The catalogue of error codes that the api service returns, how to add one and how to document it.
service-ownership | p | mA mC | Who owns which service, how to reach them, and what the escalation path is. Use when a change crosses a service boundary.
services-conventions | m | mA | Conventions for everything below services/, such as folder layout, health endpoints, configuration, graceful shutdown, and the names of metrics and queues.
data-contracts | gM | mC rA | Define and check data contracts between services and the warehouse. Use when an event schema changes, a column is renamed, or a dbt model fails because of upstream data.
dbt-models | pR | rD hD~ | Write dbt models with tests, docs and incremental strategies. Use when working in warehouse/.
support-replies | sT | oH oA | Draft replies to customers in our voice: warm, short, no blame; never promise a date that engineering hasn't confirmed.
design-tokens | pMT | rG rA@ | Sync design tokens between Figma variables and the CSS and Swift packages.
"""

_TOOLS = (
    "Read, Grep, Glob",
    "Bash(git:*) Read",
    "Bash(git add:*), Bash(git commit:*), Bash(git diff:*)",
    "Read Write Edit Bash(python3:*)",
    "Bash, Read, Write, WebFetch",
    "Bash(gh:*) Bash(jq:*) Read",
)
_LICENSES = (
    "MIT",
    "Apache-2.0",
    "Proprietary. LICENSE.txt has complete terms",
    "Complete terms in LICENSE.txt",
    "CC-BY-4.0",
    "MIT License © Example GmbH",
)
_COMPATIBLE = (
    "opencode",
    "Requires git, docker, jq, and access to the internet",
    "Designed for Claude Code (or similar products)",
    "Requires Python 3.12+ and uv",
)
_AUTHORS = ("platform-team", "jane.doe", "acme-org", "春樹")
_BODIES = (
    """# {title}

## When to use this skill

- The user asks for it by name
- {first}
- A follow-up in the same session needs the same conventions

## Steps

1. Read the request twice and restate the goal in one sentence.
2. Look at what is already there before writing anything new:
   ```bash
   git status --short
   ls -la
   ```
3. Make the smallest change that solves the problem.
4. Verify. Show the command that you ran **and** its output.

## Do not

- Do not touch generated files.
- Do not ask more than one question at a time.

---

See [the reference](references/REFERENCE.md) for details.
""",
    """# {title}

**Core principle:** {first}

## Overview

| Situation | What to do |
|-----------|------------|
| Nothing exists yet | Start from the template in `assets/` |
| Something exists | Read it first, then extend it |
| It is broken | Reproduce, isolate, fix, verify |

## Checklist

- [ ] Understood the input
- [ ] Named the assumptions
- [ ] Ran the check
- [ ] Wrote down what is left

## Example

```yaml
---
name: not-a-real-skill
description: this block is only an example inside the body
---
```

> "Slow is smooth, smooth is fast."
""",
    """# {title}

You are helping with the following: {first}

<HARD-GATE>
Do NOT skip the verification step, even when the change looks trivial.
</HARD-GATE>

## Process

### Phase 1: Look
Collect facts. Quote them with file names and line numbers.

### Phase 2: Think
Write down two alternatives and why you prefer one of them.

### Phase 3: Act
Do it in small steps and keep the tests green.

## Common mistakes

**Guessing.** Run it instead.
**Over-engineering.** YAGNI.

Run `python scripts/check.py --help` for the bundled helper.
""",
    """# {title}

{first}

## Quick reference

```python
from pathlib import Path

def load(path: Path) -> str:
    return path.read_text(encoding="utf-8")
```

## Tips

* Prefer boring solutions 🙂
* Use `--dry-run` first
* Ask before deleting anything

## Troubleshooting

Q: It says *permission denied*.
A: Check the mode of the file: `chmod +x scripts/run.sh`.

Q: It prints nothing.
A: Exit code 0 and no output means that all is well.
""",
    """## Prerequisites

- An account and a token in your keychain (never paste it into the chat)
- The CLI, see `scripts/`

## Usage

```bash
tool list --limit 20
tool show <id>
tool create --title "…" --body-file body.md
```

## Notes

{first}

- Output is JSON; pipe it through `jq`.
- Rate limit: 60 requests a minute.
""",
)
_SECTION = """
## Section {0}

This part explains rule {0} in detail. The short form: keep it consistent, name the exception, and \
give one example of each kind so that the next reader does not have to guess what was meant.
"""


class OrdinarySkill(NamedTuple):
    """One line of the table."""

    name: str
    flags: str
    places: str
    description: str

    @property
    def number(self) -> int:
        """Stands for chance, and is the same each time."""
        return zlib.crc32(self.name.encode())

    @property
    def title(self) -> str:
        return " ".join(word[:1].upper() + word[1:] for word in self.name.split("-"))

    @property
    def first_sentence(self) -> str:
        return self.description.split(". ")[0].rstrip(".") + "."

    def pick(self, some: Sequence[str]) -> str:
        return some[self.number % len(some)]


def ordinary_skills() -> Placed:
    """Give every file and link of the table."""
    for line in _TABLE.strip().splitlines():
        name, flags, places, description = (part.strip() for part in line.split(" | ", 3))
        skill = OrdinarySkill(name, flags, places, description)
        first = ""
        for short in skill.places.split():
            where = short.rstrip("=~@")
            mark = short.removeprefix(where)
            folder = f"{place(where)}/{name}"
            first = first or folder
            if mark == "@@":
                yield folder, Link(f"/{first}")
            elif mark == "@":
                yield folder, link_to(folder, first)
            elif mark == "~":
                yield f"{folder}/SKILL.md", _older(skill)
            else:
                yield f"{folder}/SKILL.md", _newest(skill)
                yield from ((f"{folder}/{path}", data.encode()) for path, data in _beside(skill))


def _newest(skill: OrdinarySkill) -> bytes:
    head = _describe(skill.flags[0], skill.description)
    return _text(skill, head, (f"1.{skill.number % 7}.0", f"1.{skill.number % 9}"))


def _older(skill: OrdinarySkill) -> bytes:
    head = _describe("d", f"{skill.first_sentence} (older copy, v0.9)")
    return _text(skill, head, ("0.9.0", "0.9"))


def _text(skill: OrdinarySkill, description: list[str], versions: tuple[str, str]) -> bytes:
    """Write a SKILL.md; the versions are the one of the standard field and the one in the metadata."""
    number = skill.number
    metadata = ["metadata:", f"  author: {skill.pick(_AUTHORS)}", f'  version: "{versions[1]}"']
    metadata += [f"  short-description: {skill.title}"] if number % 3 == 0 else []
    metadata += ["  audience: maintainers", "  workflow: github"] if number % 3 == 1 else []
    tags = f"    tags: [{skill.title.split()[0]}, Automation, CLI]"
    related = "    related_skills: [writing-plans, github-issues]"
    fields = {
        "V": [f"version: {versions[0]}", "author: community"],
        "L": [f"license: {skill.pick(_LICENSES)}"],
        "C": [f"compatibility: {skill.pick(_COMPATIBLE)}"],
        "A": [f"allowed-tools: {skill.pick(_TOOLS)}"],
        "M": metadata,
        "H": ["metadata:", "  hermes:", tags, related],
    }
    flags = skill.flags[1:]
    lines = [f"name: {skill.name}", *description]
    lines += [line for flag, some in fields.items() if flag in flags for line in some]
    if "Q" in flags:
        lines[:0] = ["# maintained by the platform team", "# see CONTRIBUTING.md before editing"]
        lines.append("# end of frontmatter")
    body = skill.pick(_BODIES).format(title=skill.title, first=skill.first_sentence)
    if "B" in flags:
        body += "".join(_SECTION.format(number) for number in range(1, 41))
    text = "\n".join(["---", *lines, "---", "", body])
    return text.replace("\n", "\r\n" if "r" in flags else "\n").encode()


def _describe(style: str, said: str) -> list[str]:
    """Write a description in a style of YAML; one that cannot stand plain is quoted."""
    if style in "pm" and (": " in said or " #" in said):
        style = "d"
    escaped = said.replace("\\", "\\\\").replace('"', '\\"')
    quoted = {"p": said, "d": f'"{escaped}"', "s": "'" + said.replace("'", "''") + "'"}
    if style in quoted:
        return [f"description: {quoted[style]}"]
    lines = _wrap(said)
    first = lines.pop(0) if style == "m" else {"f": ">", "g": ">-", "l": "|", "k": "|-"}[style]
    return [f"description: {first}", *(f"  {line}" for line in lines)]


def _wrap(text: str, width: int = 76) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".lstrip(" ")
        if lines[-1] and len(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _beside(skill: OrdinarySkill) -> Iterator[tuple[str, str]]:
    """Give what lies beside a SKILL.md."""
    name, title = skill.name, skill.title
    files = {
        "R": {
            "references/REFERENCE.md": f"# Reference for {name}\n\nDetails that are only needed now and then.\n",
            "references/examples.md": "# Examples\n\n1. …\n2. …\n",
        },
        "S": {
            "scripts/check.py": f"#!/usr/bin/env python3\nprint('ok: {name}')\n",
            "scripts/run.sh": f"#!/bin/sh\nset -eu\necho '{name}'\n",
        },
        "T": {
            "assets/template.md": "# {{ title }}\n\n{{ body }}\n",
            "templates/default.txt": "Hello {{ name }}\n",
        },
        "Z": {
            "LICENSE.txt": "Permission is hereby granted, free of charge, to any person…\n",
        },
        "O": {
            "agents/openai.yaml": f'interface:\n  display_name: "{title}"\n  short_description: "Helps with {name}"\n'
            f'  icon_small: "./assets/small.svg"\n  default_prompt: "Use ${name} to help me."\n',
            "assets/small.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>\n",
        },
    }
    for flag, some in files.items():
        if flag in skill.flags[1:]:
            yield from some.items()
