"""More agents, and how each is asked: by a listing of its own, or by the request that it sends to a
model on loopback.
"""

from __future__ import annotations

import html
import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents_ask import (
    AskedAgent,
    NotAskedError,
    call_function,
    npm_program,
    package_program,
    run_agent,
)
from loopback import LoopbackModel

if TYPE_CHECKING:
    from agents_ask import Said


# --- by a command of its own


def ask_copilot(tools: Path, home: Path, cwd: Path) -> Said:
    """Read its `skill list`, and keep of it what its request to a model offers; its budget is set so
    high that none is cut.
    """
    program = npm_program(tools, "copilot")
    listed = json.loads(run_agent([program, "skill", "list", "--json"], cwd, home, CI="1"))
    with LoopbackModel() as server:
        run_agent(
            [program, "-p", "hi", "--allow-all-tools"],
            cwd,
            home,
            CI="1",
            COPILOT_PROVIDER_BASE_URL=f"{server.url}/v1",
            COPILOT_PROVIDER_TYPE="openai",
            COPILOT_MODEL="m",
            COPILOT_OFFLINE="true",
            SKILL_CHAR_BUDGET="10000000",
        )
        texts = [text for text in server.texts() if "<available_skills>" in text]
    if not texts:
        raise NotAskedError("it sent no list of skills")
    offered = {html.unescape(name) for name in re.findall(r"<name>(.*?)</name>", texts[0])}
    return [
        (each["name"], each["path"])
        for each in listed
        if each["source"] != "builtin" and each["name"] in offered
    ]


def ask_kilo(tools: Path, home: Path, cwd: Path) -> Said:
    """Read its `debug skill`; which of several copies it took is chance, so places are not told."""
    found = json.loads(run_agent([npm_program(tools, "kilo"), "debug", "skill"], cwd, home))
    return [(skill["name"], "") for skill in found if skill["location"].startswith("/")]


def ask_amp(tools: Path, home: Path, cwd: Path) -> Said:
    """Read its `skill list`, for which it wants to ask a server who the user is; which of two copies
    in one root it took is chance, so places are not told.
    """
    with LoopbackModel() as server:
        words = [npm_program(tools, "amp"), "skill", "list", "--json"]
        said = run_agent(words, cwd, home, AMP_API_KEY="sgamp_x", AMP_URL=server.url)
    return [
        (each["name"], "")
        for each in json.loads(said)["skills"]
        if each["baseDir"].startswith("file:")
    ]


# --- by the request that it sends to a model


def ask_qwen(tools: Path, home: Path, cwd: Path) -> Said:
    """Read which skills its tool `skill` offers; it tells their levels and no places."""
    with LoopbackModel() as server:
        run_agent(
            [npm_program(tools, "qwen"), "--auth-type", "openai", "-m", "m", "hi"],
            cwd,
            home,
            OPENAI_API_KEY="x",
            OPENAI_BASE_URL=f"{server.url}/v1",
            OPENAI_MODEL="m",
        )
        offered = [text for text in server.texts() if "<available_skills>" in text]
    if not offered:
        raise NotAskedError("it sent no list of skills")
    shape = r"<skill>\n<name>\n(.*?)\n</name>.*?<location>\n(.*?)\n</location>"
    found = re.findall(shape, offered[0], re.DOTALL)
    return [(html.unescape(name), "") for name, level in found if level != "bundled"]


def ask_pi(tools: Path, home: Path, cwd: Path) -> Said:
    """Read the list of its system prompt, for which a list of models is put into its home; which of
    two copies in one root it took is chance, so places are not told.
    """
    model: dict[str, Any] = {"id": "m", "name": "m", "reasoning": False, "input": ["text"]}
    model |= {"cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
    model |= {"contextWindow": 100_000, "maxTokens": 1_000}
    models = home / ".pi" / "agent" / "models.json"
    models.parent.mkdir(parents=True, exist_ok=True)
    with LoopbackModel() as server:
        provider = {"baseUrl": f"{server.url}/v1", "api": "openai-completions", "apiKey": "x"}
        listed = {"providers": {"loopback": provider | {"models": [model]}}}
        models.write_text(json.dumps(listed), encoding="utf-8")
        words = [npm_program(tools, "pi"), "--provider", "loopback", "--model", "m", "-p", "hi"]
        run_agent(words, cwd, home, PI_OFFLINE="1")
        models.unlink()
        text = "\n".join(server.texts())
    shape = r"<skill>\s*<name>(.*?)</name>.*?<location>(.*?)</location>"
    found = re.findall(shape, text, re.DOTALL)
    return [(html.unescape(name).strip() or Path(path).parent.name, "") for name, path in found]


def ask_droid(tools: Path, home: Path, cwd: Path) -> Said:
    """Read the skills that its first message names, without those that it brings along; it tells no
    places.
    """
    settings = home / ".factory" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    before = settings.read_text(encoding="utf-8") if settings.exists() else "{}"
    with LoopbackModel() as server:
        model = {"model": "m", "displayName": "m", "apiKey": "x", "maxOutputTokens": 1000}
        model |= {"baseUrl": f"{server.url}/v1", "provider": "generic-chat-completion-api"}
        settings.write_text(json.dumps(json.loads(before) | {"customModels": [model]}))
        words = [npm_program(tools, "droid"), "exec", "--disable-builtin-skills"]
        run_agent(
            [*words, "-m", "custom:m-0", "hi"],
            cwd,
            home,
            FACTORY_API_KEY="fk-x",
            FACTORY_API_BASE_URL=server.url,
            CI="1",
        )
        settings.write_text(before, encoding="utf-8")
        for text in server.texts():
            _before, found, listing = text.partition("\nAvailable skills (invoke by exact name")
            if found:
                lines = listing.partition("\n</system-reminder>")[0].splitlines()[1:]
                return [(line.partition(": ")[0], "") for line in lines if line.strip()]
    raise NotAskedError("it sent no list of skills")


def ask_continue(tools: Path, home: Path, cwd: Path) -> Said:
    """Read the skills that its tool `Skills` offers; it tells no places."""
    with LoopbackModel() as server, tempfile.TemporaryDirectory() as place:
        model = {"name": "m", "provider": "openai", "model": "m", "apiKey": "x"}
        listed = [model | {"apiBase": f"{server.url}/v1", "roles": ["chat"]}]
        whole = {"name": "x", "version": "1.0.0", "schema": "v1", "models": listed}
        config = Path(place) / "config.yaml"
        config.write_text(json.dumps(whole), encoding="utf-8")
        words = [npm_program(tools, "cn"), "--config", str(config), "-p", "hi"]
        run_agent(words, cwd, home, CI="1")
        lists = [text for text in server.texts() if "available skills listed below:" in text]
    if not lists:
        raise NotAskedError("it sent no list of skills")
    listing = lists[0].partition("available skills listed below:")[2]
    found = re.findall(r"^name: (.*?)\ndescription: ", listing, re.DOTALL | re.MULTILINE)
    return [(name, "") for name in found]


# --- by a function of its own

_KIMI = """
import asyncio, json
from kaos.path import KaosPath
from kimi_cli.config import load_config
from kimi_cli.skill import discover_skills_from_roots, resolve_skills_roots
async def main():
    config = load_config()
    roots = await resolve_skills_roots(KaosPath.cwd(),
        merge_brands=config.merge_all_available_skills,
        extra_skill_dirs=config.extra_skill_dirs or None)
    return [[s.name, str(s.skill_md_file)] for s in await discover_skills_from_roots(roots)]
print("@@" + json.dumps(asyncio.run(main())))
"""


def ask_kimi(tools: Path, home: Path, cwd: Path) -> Said:
    """Call what gathers the skills of its system prompt; which of two copies in one root it took is
    chance, so places are not told.
    """
    said = call_function(tools, "kimi-cli", _KIMI, home, cwd)
    own = ((name, Path(path)) for name, path in said if "/kimi_cli/" not in path)
    return [(name.strip() or path.parent.name, "") for name, path in own]


def ask_goose(tools: Path, home: Path, cwd: Path) -> Said:
    """Read the list of its system prompt, without the one that it brings along; it tells no places
    and takes one of two copies.
    """
    with LoopbackModel() as server:
        run_agent(
            [package_program(tools, _GOOSE, "bin/goose"), "run", "--no-session", "-t", "hi"],
            cwd,
            home,
            GOOSE_PROVIDER="openai",
            GOOSE_MODEL="m",
            GOOSE_DISABLE_KEYRING="1",
            OPENAI_HOST=server.url,
            OPENAI_API_KEY="x",
        )
        listings = [
            text.partition("You have these skills at your disposal")[2] for text in server.texts()
        ]
    listed = "".join(listings).partition("\n## ")[0]
    if not listed:
        raise NotAskedError("it sent no list of skills")
    found = re.findall(r"^• ([^•]*?) - ", listed, re.MULTILINE)
    return [(" ".join(name.split()), "") for name in found if name != "goose-doc-guide"]


_GOOSE = "@aaif/goose-binary-linux-x64"
MORE: tuple[AskedAgent, ...] = (
    AskedAgent("qwen-code", "@qwen-code/qwen-code", ask_qwen, "the request that it sends"),
    AskedAgent(
        "github-copilot", "@github/copilot", ask_copilot, "copilot skill list, and its request"
    ),
    AskedAgent(
        "kilo-code",
        "@kilocode/cli",
        ask_kilo,
        "kilo debug skill",
        program="@kilocode/cli-linux-x64",
    ),
    AskedAgent(
        "amp",
        "@sourcegraph/amp",
        ask_amp,
        "amp skill list",
        without=("*-number-name", "*-bool-name", "name-number"),
    ),
    AskedAgent("pi", "@earendil-works/pi-coding-agent", ask_pi, "the request that it sends"),
    AskedAgent(
        "kimi-code",
        "kimi-cli",
        ask_kimi,
        "what its model is given",
        python=True,
        without=("*-latin", "*-latin-body", "*-utf16", "latin1-*", "utf16-le", "binary-file"),
    ),
    AskedAgent("goose", "@aaif/goose", ask_goose, "the request that it sends", program=_GOOSE),
    AskedAgent("droid", "droid", ask_droid, "the request that it sends"),
    AskedAgent("continue", "@continuedev/cli", ask_continue, "the request that it sends"),
)
