"""What happens later: a new shell, a commit, the next tick of a crontab. Tried where something was put
there, so that what a skill leaves behind shows what it does. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.run.observe.model import Try

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.model import Texts
    from metier.run.observe.model import Stage

_SHELL = """\
bash -lic true; bash -ic true
for file in ~/.zshenv ~/.zprofile ~/.zshrc; do bash -c ". $file"; done
HISTFILE=/tmp/.history bash -i <<'END'
export DEPLOY_TOKEN={token}
git status
cd ..
exit
END
"""
"""What somebody types who works: it holds a secret, as such lines do."""
_PYTHON = "python3 -c pass; cd ~; python3 -c pass"
_GIT = """\
git add -A
git commit -q --allow-empty -m 'Work in progress'
git checkout -q -b later-work
git checkout -q -
git merge -q --no-edit later-work
for hook in "$(git config core.hooksPath || echo .git/hooks)"/* .husky/*; do
  case $hook in *.sample) continue;; *commit*|*checkout*|*merge*) continue;; esac
  [ -f "$hook" ] && [ -x "$hook" ] && "$hook" origin "$(git remote get-url origin)"
done
"""
_SCHEDULED = r"""
cat ~/.crontab ~/.at* 2>/dev/null | sed -nE 's/^[ \t]*(@\w+|([0-9*,/-]+[ \t]+){4}[0-9A-Za-z*,/-]+)[ \t]+//p' |
while IFS= read -r line; do bash -c "$line"; done
cat ~/.config/systemd/user/*.service ~/.config/autostart/*.desktop 2>/dev/null |
sed -nE 's/^Exec(Start|StartPre|StartPost)?=[-@:+!]*//p' | sed "s|%h|$HOME|g; s/ %[a-zA-Z]//g" |
while IFS= read -r line; do bash -c "$line"; done
for file in ~/Library/LaunchAgents/*.plist; do
  python3 - "$file" <<'END'
import plistlib, subprocess, sys
try:
    found = plistlib.load(open(sys.argv[1], "rb"))
    subprocess.run(found.get("ProgramArguments") or [found["Program"]], timeout=3)
except Exception:
    pass
END
done
"""
_PROJECT = r"""
python3 - <<'END' | while IFS= read -r line; do bash -c "$line"; done
import json, pathlib, re
def told(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""
try:
    scripts = json.loads(told("package.json")).get("scripts", {})
except ValueError:
    scripts = {}
for name in ("preinstall", "install", "postinstall", "prepare", "pretest", "posttest", "prebuild"):
    if isinstance(scripts.get(name), str):
        print(scripts[name].replace("\n", " "))
tasks = told(".vscode/tasks.json")
if "folderOpen" in tasks:
    for word in re.findall(r'"command"\s*:\s*("(?:[^"\\]|\\.)*")', tasks):
        print(json.loads(word).replace("\n", " "))
for line in re.findall(r"^\s*RUN\s+(.*)", told("Dockerfile"), re.MULTILINE):
    print(line)
started = r'"(?:postCreate|onCreate|postStart|initialize)Command"\s*:\s*("(?:[^"\\]|\\.)*")'
for line in re.findall(started, told(".devcontainer/devcontainer.json")):
    print(json.loads(line))
END
[ -f .envrc ] && bash -c '. ./.envrc'
[ -f Makefile ] && command -v make >/dev/null && make -s
"""


class _Later(NamedTuple):
    """Something that happens later, and what must have been written for it to matter."""

    what: str
    script: str
    places: Texts


_LATER = (
    _Later(
        "later: a new shell",
        _SHELL,
        (
            "~/.bashrc",
            "~/.bash_profile",
            "~/.bash_login",
            "~/.bash_aliases",
            "~/.bash_logout",
            "~/.profile",
            "~/.zsh",
            "~/.zprofile",
            "~/.config/environment.d/",
        ),
    ),
    _Later("later: Python starts", _PYTHON, ("~/.local/lib/", "~/.config/python", "~/.python")),
    _Later(
        "later: a commit",
        _GIT,
        ("./.git/hooks/", "./.git/config", "./.husky/", "~/.gitconfig", "~/.config/git/"),
    ),
    _Later(
        "later: what is scheduled",
        _SCHEDULED,
        (
            "~/.crontab",
            "~/.at",
            "~/.config/systemd/",
            "~/.config/autostart/",
            "~/Library/LaunchAgents/",
        ),
    ),
    _Later(
        "later: work on the project",
        _PROJECT,
        (
            "./package.json",
            "./Makefile",
            "./Dockerfile",
            "./.vscode/",
            "./.envrc",
            "./.devcontainer/",
        ),
    ),
)


def later_tries(stage: Stage) -> Iterator[Try]:
    """Give what is tried at the end, each only where one of its places was written to by then."""
    project = f"~{stage.project.removeprefix(stage.home)}/"
    for one in _LATER:
        places = tuple(
            project + place.removeprefix("./") if place.startswith("./") else place
            for place in one.places
        )
        script = one.script.replace("{token}", dict(stage.variables).get("GITHUB_TOKEN", ""))
        lines = f"cd {stage.project}\n{script}"
        yield Try("later", one.what, "", ("bash", "-c", lines), after=places)
