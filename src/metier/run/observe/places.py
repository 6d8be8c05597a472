"""The places and programs that mean something to whoever judges what was seen. Tables."""

from __future__ import annotations

from metier.scan.model import word_set

KEPT_KINDS = word_set("ssh-key cloud token browser wallet history")
"""What nobody throws away unasked: secrets that are lost then, and the history of a shell."""
SECRET_KINDS = word_set("ssh-key cloud token browser wallet history secret env agent")

STARTS_LATER = (
    "~/.bashrc",
    "~/.bashrc.d/",
    "~/.bash_profile",
    "~/.bash_login",
    "~/.profile",
    "~/.zshrc",
    "~/.zshenv",
    "~/.zprofile",
    "~/.config/fish/",
    "~/.config/autostart/",
    "~/.config/systemd/",
    "~/.local/share/systemd/",
    "~/.ssh/authorized_keys",
    "~/.ssh/authorized_keys2",
    "~/.ssh/rc",
    "~/.ssh/config",
    "~/.ssh/config.d/",
    "~/.gitconfig",
    "~/.config/git/",
    "~/.crontab",
    "~/.at",
    "/var/spool/cron*",
    "/etc/cron*",
    "~/.pam_environment",
    "~/.xinitrc",
    "~/.xprofile",
    "~/.npmrc",
    "~/.pip/",
    "~/.config/pip/",
    "~/.vimrc",
    "~/.inputrc",
    "~/.bash_aliases",
    "~/.bash_logout",
    "~/.zlogin",
    "~/.zlogout",
    "~/.xsession",
    "~/.xsessionrc",
    "~/.zshrc.zwc",
    "~/.zshenv.zwc",
    "~/.zprofile.zwc",
    "~/.zshrc.local",
    "~/.tmux.conf.local",
    "~/.emacs.elc",
    "~/.config/emacs/",
    "~/.gradle/gradle.properties",
    "~/.config/environment.d/",
    "~/.config/plasma-workspace/",
    "~/.config/nvim/",
    "~/.vim/",
    "~/.emacs",
    "~/.emacs.el",
    "~/.emacs.d/",
    "~/.tmux.conf",
    "~/.ipython/",
    "~/.curlrc",
    "~/.wgetrc",
    "~/.yarnrc",
    "~/.yarnrc.yml",
    "~/.cargo/config",
    "~/.cargo/config.toml",
    "~/.gradle/init.gradle",
    "~/.gradle/init.gradle.kts",
    "~/.gradle/init.d/",
    "~/.config/go/env",
    "~/.m2/settings.xml",
    "~/Library/LaunchAgents/",
)
"""Files below the home that run by themselves, or change what other programs run: the file of that name,
all in a folder, or with a star all that begins so. A copy beside one starts nothing.
"""
STARTS_WITH_PYTHON = (".pth", "sitecustomize.py", "usercustomize.py")
"""Files in a folder of packages that every Python runs when it starts."""
OWN_PROGRAMS_FOLDER = "~/.local/bin/"
COMMON_PROGRAMS = word_set(
    "ls cat cp mv rm cd sh bash zsh sudo su ssh scp git gh curl wget python python3 pip pip3 node "
    "npm npx docker kubectl aws gcloud az vim vi nano less grep find make tar gpg claude codex "
    "gemini cursor code cargo go java ps top crontab systemctl apt brew"
)
"""Programs that people start by their name: one of that name in a folder that comes first is run in
its place."""
AGENT_FILES = (
    "~/.claude/",
    "~/.claude.json",
    "~/.codex/",
    "~/.cursor/",
    "~/.gemini/",
    "~/.config/Claude/",
    "~/.hermes/",
    "~/.opencode/",
    "~/.config/opencode/",
    "~/.agents/",
    "~/.windsurf/",
    "~/.copilot/",
    "~/.continue/",
    "~/.codeium/",
    "~/.config/goose/",
    "~/.config/github-copilot/",
    "~/.cline/",
    "~/.roo/",
    "~/.kiro/",
    "~/.qwen/",
    "~/.openclaw/",
    "~/.aider.conf.yml",
    "~/.vscode/",
    "~/.config/Code/User/",
)
PROJECT_AGENT_FILES = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "GEMINI.md",
    ".mcp.json",
    ".cursorrules",
    ".claude/",
    ".cursor/",
    ".codex/",
    ".github/copilot-instructions.md",
    ".git/hooks/",
    ".husky/",
    ".vscode/tasks.json",
    ".agents/",
    ".github/instructions/",
    ".windsurfrules",
    ".windsurf/",
    ".clinerules",
    ".gemini/",
    ".opencode/",
    "opencode.json",
    ".continue/",
    ".roo/",
    ".kiro/",
    ".vscode/mcp.json",
    ".aider.conf.yml",
)
PROJECT_RUNS = (
    ".github/workflows/",
    ".gitlab-ci.yml",
    ".circleci/",
    "package.json",
    "Makefile",
    ".envrc",
    ".devcontainer/",
)
"""Files of a project that run something, and that many a tool writes: what was added decides."""
INSTALLED_FOLDERS = ("/node_modules/", "/site-packages/", "/.venv/", "/venv/", "/vendor/")
"""Where installations put what others wrote."""
CODE_ENDINGS = (
    ".sh",
    ".bash",
    ".py",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".rb",
    ".ps1",
    ".rs",
    ".gradle",
    ".kts",
    "Dockerfile",
    "Jenkinsfile",
    "Containerfile",
    "docker-compose.yml",
)
"""How code of a project is called: the same holds for it."""
SENDING_PROGRAMS = word_set(
    "gh glab git rclone aws gsutil gcloud az s3cmd mc scp rsync sftp ssh docker kubectl mail mailx mutt sendmail msmtp"
)
"""Programs with which people send files somewhere by themselves."""
PACKAGE_SETTINGS = (
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "package-lock.json",
    "bunfig.toml",
    "pip.conf",
    "requirements.txt",
    "Pipfile",
    "pyproject.toml",
    "uv.toml",
    ".cargo/config.toml",
    ".cargo/config",
    "go/env",
    "settings.gradle",
    "init.gradle",
    "nuget.config",
    ".bundle/config",
)
"""Files that say where packages come from."""
OWN_DATA = (
    "Documents/",
    "Notes/",
    "Pictures/",
    "Contacts/",
    "Mail/",
    "Desktop/",
    "Downloads/",
)

VENDORS = {
    "AWS_": ("amazonaws.com", "aws.amazon.com"),
    ".aws/": ("amazonaws.com", "aws.amazon.com"),
    "GITHUB": ("github.com", "githubusercontent.com", "ghcr.io"),
    "GH_": ("github.com", "ghcr.io"),
    "gh/": ("github.com",),
    ".git-credentials": ("github.com",),
    ".netrc": ("github.com", "heroku.com"),
    "NPM_": ("npmjs.org", "npmjs.com"),
    ".npmrc": ("npmjs.org", "npmjs.com"),
    ".pypirc": ("pypi.org",),
    "OPENAI": ("openai.com",),
    ".codex/auth": ("openai.com", "chatgpt.com"),
    "ANTHROPIC": ("anthropic.com", "claude.ai", "claude.com"),
    ".claude/settings": ("anthropic.com",),
    "STRIPE": ("stripe.com",),
    "SLACK": ("slack.com",),
    "GOOGLE": ("googleapis.com", "google.com"),
    "gcloud/": ("googleapis.com", "google.com"),
    ".docker/": ("docker.io", "docker.com"),
    ".azure/": ("azure.com", "microsoftonline.com", "windows.net"),
    ".kube/": ("203.0.113.12",),
    "DATABASE_URL": ("db.internal", "prod.internal"),
    ".pgpass": ("db.internal", "prod.internal"),
    ".my.cnf": ("db.internal", "prod.internal"),
    ".terraform.d/": ("terraform.io",),
    "/op/": ("1password.com",),
    ".cargo/": ("crates.io",),
    ".gem/": ("rubygems.org",),
    ".composer/": ("github.com",),
}
"""Whose secret it is, by a part of its place: sent there, it is used for what it is for."""
PROGRAM_FILES = {
    "ssh": ("~/.ssh/",),
    "scp": ("~/.ssh/",),
    "rsync": ("~/.ssh/",),
    "git": ("~/.git-credentials", "~/.netrc", "~/.ssh/", "~/.config/gh/", "~/.gnupg/"),
    "gpg": ("~/.gnupg/",),
    "curl": ("~/.netrc",),
    "npm": ("~/.npmrc",),
    "npx": ("~/.npmrc",),
    "node": ("~/.npmrc",),
    "pip": ("~/.netrc", "~/.pypirc"),
    "twine": ("~/.pypirc",),
    "aws": ("~/.aws/",),
    "gcloud": ("~/.config/gcloud/",),
    "kubectl": ("~/.kube/",),
    "docker": ("~/.docker/",),
    "gh": ("~/.config/gh/",),
    "az": ("~/.azure/",),
    "glab": ("~/.config/gh/",),
    "oc": ("~/.kube/",),
    "helm": ("~/.kube/",),
    "rclone": ("~/.config/rclone/",),
    "gradle": ("~/.gradle/",),
    "mvn": ("~/.m2/",),
    "cargo": ("~/.cargo/",),
    "gem": ("~/.gem/",),
    "composer": ("~/.composer/",),
    "terraform": ("~/.terraform.d/",),
    "tofu": ("~/.terraform.d/",),
    "vault": ("~/.vault-token",),
    "op": ("~/.config/op/",),
    "pass": ("~/.password-store/",),
    "gopass": ("~/.password-store/",),
    "secret-tool": ("~/.local/share/keyrings/",),
    "security": ("~/.local/share/keyrings/",),
    **dict.fromkeys(("tmux", "screen"), ("~/.bash_history",)),
    "psql": ("~/.pgpass",),
    "pg_dump": ("~/.pgpass",),
    "pg_restore": ("~/.pgpass",),
    "mysql": ("~/.my.cnf",),
    "mysqldump": ("~/.my.cnf",),
    **dict.fromkeys(("pbpaste", "xclip", "xsel", "wl-paste"), ("~/.cache/clipboard/",)),
}
"""Which files a program reads by itself, as it always does."""
PACKAGE_HOSTS = word_set(
    "pypi.org files.pythonhosted.org registry.npmjs.org registry.yarnpkg.com crates.io static.crates.io "
    "index.crates.io rubygems.org proxy.golang.org test.pypi.org download.pytorch.org pypi.nvidia.com "
    "npm.pkg.github.com jsr.io npm.jsr.io registry.npmmirror.com mirrors.aliyun.com "
    "pypi.tuna.tsinghua.edu.cn conda.anaconda.org repo.anaconda.com"
)
"""Registries, and the indexes and mirrors that many people install from."""
STARTERS = word_set(
    "sudo doas env nohup time timeout nice xargs exec sh bash zsh dash node python3 python uv npx"
)
"""Programs whose next word names what they start."""
PACKAGE_PROGRAMS = word_set("pip pip3 npm npx pnpm yarn bun uv uvx gem cargo go")
CODE_HOSTS = word_set("github.com codeload.github.com gitlab.com codeberg.org bitbucket.org")
"""Where people keep code that a package can be installed from by its repository."""
PUSH_HOSTS = CODE_HOSTS | word_set(
    "huggingface.co git.heroku.com dev.azure.com ssh.dev.azure.com gitee.com git.sr.ht"
)
"""Where people push their own repositories to."""
SPOKEN_NAMES = {
    ".crontab": "cron",
    ".at": "at job",
    ".gitconfig": "git config",
    ".npmrc": "npm config",
    "pip.conf": "pip config",
}
"""What people call a file that they do not write into by its name."""
_OF_SHELLS = (
    "shell profile", "shell rc", "shell startup", "shell config", "your shell's", "dotfile",
)  # fmt: skip
SPOKEN_PLACES: dict[str, tuple[str, ...]] = {
    "~/.config/fish/completions/": ("completion",),
    "~/.config/systemd/": ("systemd", "systemctl"),
    "~/.local/share/systemd/": ("systemd", "systemctl"),
    "~/.config/autostart/": ("autostart", "at login", "when you log in"),
    "~/Library/LaunchAgents/": ("launchd", "launchagent", "launch agent", "launchctl"),
    **dict.fromkeys(("~/.inputrc", "~/.gitconfig", "~/.emacs"), ("dotfile",)),
    **dict.fromkeys(("~/.vimrc", "~/.vim/", "~/.config/nvim/"), ("dotfile", "vim")),
    "~/.tmux.conf": ("dotfile", "tmux"),
    "~/.config/git/": ("git config", "gitignore", "global git"),
    **dict.fromkeys(
        (
            "~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.profile", "~/.zshrc", "~/.zshenv",
            "~/.zprofile", "~/.config/fish/",
        ),
        _OF_SHELLS,
    ),
}  # fmt: skip
"""What people say of files that run by themselves, without calling them by their names."""
LETS_IN = ("~/.ssh/authorized_keys", "~/.ssh/rc")
"""Who may log in, and what runs then: never a matter of course."""
DATA_FOLDERS = ("logs", "log", "cache", "tmp", "state", "data")
"""Folders below an agent's own in which it looks for nothing."""
DATA_ENDINGS = (".log", ".json", ".jsonl", ".txt", ".csv", ".db", ".sqlite", ".lock", ".tmp")
READ_BY_AGENTS = ("settings", "hook", "mcp", "config", "claude", "agent", "skill", "command")
"""Parts of names that agents read."""
GENERIC_WORDS = word_set(
    "token secret access auth password passwd client user bearer private public service project "
    "account login personal admin master session webhook database server example test data cloud files "
    "backup backups metrics telemetry analytics collect collector update updates sync upload report "
    "reports tools docs code agent skill skills"
)
"""Words in the name of a secret or of a host that say nothing of whose it is."""
GENERATED_FILES = (
    ".lock",
    "-lock.json",
    "-lock.yaml",
    ".min.js",
    ".min.css",
    ".map",
    ".svg",
    ".ipynb",
)
"""Files that a tool writes and nobody reads."""
