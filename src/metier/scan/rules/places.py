"""Places that matter to every analyzer: where secrets lie, where stolen data goes, where code makes itself at home.

Fragments are written in lower case with forward slashes; `look` compares without case and takes backslashes for slashes.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Place(NamedTuple):
    """A piece of a path or of a host name, and what is found there."""

    fragment: str
    what: str


class Seen(NamedTuple):
    """Where in a text a place is named, and what the place is."""

    start: int
    end: int
    what: str


CREDENTIALS: tuple[Place, ...] = (
    Place(".ssh/", "SSH keys"),
    Place("id_rsa", "an SSH private key"),
    Place("id_ed25519", "an SSH private key"),
    Place("id_ecdsa", "an SSH private key"),
    Place("id_dsa", "an SSH private key"),
    Place(".aws/credentials", "AWS credentials"),
    Place(".aws/config", "AWS configuration"),
    Place(".aws/sso", "AWS sign-in tokens"),
    Place(".azure/", "Azure tokens"),
    Place("gcloud/credentials", "Google Cloud credentials"),
    Place("gcloud/application_default_credentials", "Google Cloud credentials"),
    Place("gcloud/access_tokens", "Google Cloud tokens"),
    Place(".config/gcloud", "Google Cloud credentials"),
    Place(".kube/config", "Kubernetes credentials"),
    Place("/var/run/secrets/kubernetes.io", "a Kubernetes service token"),
    Place(".docker/config.json", "registry credentials"),
    Place(".npmrc", "npm tokens"),
    Place(".yarnrc", "registry tokens"),
    Place(".pypirc", "PyPI tokens"),
    Place(".gem/credentials", "RubyGems tokens"),
    Place(".cargo/credentials", "crates.io tokens"),
    Place(".netrc", "passwords for hosts"),
    Place(".git-credentials", "git passwords"),
    Place(".config/gh/hosts", "GitHub tokens"),
    Place(".config/git/credentials", "git passwords"),
    Place(".config/glab-cli", "GitLab tokens"),
    Place(".pgpass", "database passwords"),
    Place(".my.cnf", "database passwords"),
    Place(".vault-token", "Vault tokens"),
    Place(".terraform.d/credentials", "Terraform tokens"),
    Place(".gnupg", "PGP private keys"),
    Place(".password-store", "a password store"),
    Place(".env", "an environment file"),
    Place("/etc/shadow", "password hashes"),
    Place("/etc/gshadow", "password hashes"),
    Place("/etc/sudoers", "sudo rules"),
    Place("/proc/self/environ", "the process environment"),
    Place("windows/system32/config/sam", "Windows password hashes"),
    Place("microsoft/credentials", "Windows credentials"),
    Place("microsoft/protect", "Windows protection keys"),
    Place("microsoft/vault", "the Windows vault"),
    Place("ntds.dit", "domain password hashes"),
    Place("library/keychains", "the macOS keychain"),
    Place("login.keychain", "the macOS keychain"),
    Place("keyrings/login.keyring", "the GNOME keyring"),
    Place(".local/share/keyrings", "the GNOME keyring"),
    Place("kwalletd", "the KDE wallet"),
    Place("google/chrome/user data", "a browser profile"),
    Place("google/chrome/default", "a browser profile"),
    Place("google-chrome/default", "a browser profile"),
    Place(".config/google-chrome", "a browser profile"),
    Place("application support/google/chrome", "a browser profile"),
    Place("application support/bravesoftware", "a browser profile"),
    Place("application support/firefox", "a browser profile"),
    Place("bravesoftware/brave-browser", "a browser profile"),
    Place("microsoft/edge/user data", "a browser profile"),
    Place("mozilla/firefox", "a browser profile"),
    Place(".mozilla/firefox", "a browser profile"),
    Place("opera software", "a browser profile"),
    Place("login data", "saved browser passwords"),
    Place("logins.json", "saved browser passwords"),
    Place("key4.db", "the browser's key database"),
    Place("cookies.sqlite", "browser cookies"),
    Place("cookies.binarycookies", "browser cookies"),
    Place("local extension settings", "browser extension data"),
    Place("1password", "a password manager"),
    Place("keepassxc", "a password manager"),
    Place(".kdbx", "a password database"),
    Place("bitwarden/data.json", "a password manager"),
    Place("lastpass", "a password manager"),
    Place("wallet.dat", "a crypto wallet"),
    Place(".bitcoin/", "a crypto wallet"),
    Place(".ethereum/keystore", "a crypto wallet"),
    Place("ethereum/keystore", "a crypto wallet"),
    Place(".config/solana/id.json", "a crypto wallet"),
    Place(".solana/id.json", "a crypto wallet"),
    Place(".electrum", "a crypto wallet"),
    Place("exodus.wallet", "a crypto wallet"),
    Place("exodus/exodus", "a crypto wallet"),
    Place("atomic/local storage", "a crypto wallet"),
    Place("nkbihfbeogaeaoehlefnkodbefgpgknn", "the MetaMask extension's data"),
    Place("bfnaelmomeimhlpmgjnjophhpkkoljpa", "the Phantom extension's data"),
    Place(".bash_history", "the shell history"),
    Place(".zsh_history", "the shell history"),
    Place(".python_history", "an interpreter's history"),
    Place(".psql_history", "a database client's history"),
    Place("consolehost_history.txt", "the PowerShell history"),
    Place("telegram desktop/tdata", "a Telegram session"),
    Place("discord/local storage", "a Discord session"),
    Place("slack/local storage", "a Slack session"),
    Place(".claude/.credentials.json", "an agent's credentials"),
    Place(".claude.json", "an agent's credentials"),
    Place(".codex/auth.json", "an agent's credentials"),
    Place(".openclaw/openclaw.json", "an agent's credentials"),
    Place(".openclaw/credentials", "an agent's credentials"),
    Place(".clawdbot/clawdbot.json", "an agent's credentials"),
    Place(".clawdbot/credentials", "an agent's credentials"),
    Place("auth-profiles.json", "an agent's credentials"),
    Place(".gemini/oauth_creds.json", "an agent's credentials"),
    Place(".config/github-copilot", "an agent's credentials"),
    Place(".cursor/mcp.json", "an agent's tool credentials"),
    Place("169.254.169.254", "the cloud's instance credentials"),
    Place("169.254.170.2", "the container's credentials"),
    Place("metadata.google.internal", "the cloud's instance credentials"),
)

EXFILTRATION: tuple[Place, ...] = (
    Place("webhook.site", "a request catcher"),
    Place("requestbin", "a request catcher"),
    Place("pipedream.net", "a request catcher"),
    Place("hookbin.com", "a request catcher"),
    Place("beeceptor.com", "a request catcher"),
    Place("requestcatcher.com", "a request catcher"),
    Place("burpcollaborator.net", "an out-of-band catcher"),
    Place("oastify.com", "an out-of-band catcher"),
    Place("interact.sh", "an out-of-band catcher"),
    Place("oast.fun", "an out-of-band catcher"),
    Place("oast.pro", "an out-of-band catcher"),
    Place("oast.live", "an out-of-band catcher"),
    Place("oast.site", "an out-of-band catcher"),
    Place("oast.online", "an out-of-band catcher"),
    Place("oast.me", "an out-of-band catcher"),
    Place("canarytokens.com", "an out-of-band catcher"),
    Place("dnslog.cn", "an out-of-band catcher"),
    Place("ceye.io", "an out-of-band catcher"),
    Place("ngrok.io", "a tunnel"),
    Place("ngrok.app", "a tunnel"),
    Place("ngrok-free.app", "a tunnel"),
    Place("trycloudflare.com", "a tunnel"),
    Place("loca.lt", "a tunnel"),
    Place("localhost.run", "a tunnel"),
    Place("serveo.net", "a tunnel"),
    Place("pagekite.me", "a tunnel"),
    Place("pastebin.com", "a paste site"),
    Place("paste.ee", "a paste site"),
    Place("hastebin.com", "a paste site"),
    Place("ghostbin", "a paste site"),
    Place("rentry.co", "a paste site"),
    Place("termbin.com", "a paste site"),
    Place("dpaste.org", "a paste site"),
    Place("controlc.com", "a paste site"),
    Place("glot.io", "a paste site"),
    Place("transfer.sh", "a file drop"),
    Place("file.io", "a file drop"),
    Place("0x0.st", "a file drop"),
    Place("gofile.io", "a file drop"),
    Place("anonfiles.com", "a file drop"),
    Place("catbox.moe", "a file drop"),
    Place("temp.sh", "a file drop"),
    Place("bashupload.com", "a file drop"),
    Place("oshi.at", "a file drop"),
    Place("discord.com/api/webhooks", "a chat webhook"),
    Place("discordapp.com/api/webhooks", "a chat webhook"),
    Place("hooks.slack.com", "a chat webhook"),
    Place("api.telegram.org/bot", "a chat bot"),
    Place("ipfs.io", "an anonymous store"),
    Place(".onion", "an anonymous host"),
    Place("duckdns.org", "a throw-away host name"),
    Place("no-ip.org", "a throw-away host name"),
    Place("ddns.net", "a throw-away host name"),
    Place("hopto.org", "a throw-away host name"),
)

PERSISTENCE: tuple[Place, ...] = (
    Place(".bashrc", "a shell profile"),
    Place(".bash_profile", "a shell profile"),
    Place(".bash_login", "a shell profile"),
    Place(".profile", "a shell profile"),
    Place(".zshrc", "a shell profile"),
    Place(".zshenv", "a shell profile"),
    Place(".zprofile", "a shell profile"),
    Place("config.fish", "a shell profile"),
    Place("microsoft.powershell_profile.ps1", "a shell profile"),
    Place("/etc/profile", "a system shell profile"),
    Place("/etc/rc.local", "a boot script"),
    Place("/etc/init.d", "a boot script"),
    Place("/etc/cron", "the cron table"),
    Place("/var/spool/cron", "the cron table"),
    Place("/etc/systemd/system", "a system service"),
    Place(".config/systemd/user", "a user service"),
    Place("/lib/systemd/system", "a system service"),
    Place("library/launchagents", "a launch agent"),
    Place("library/launchdaemons", "a launch daemon"),
    Place(".config/autostart", "a login item"),
    Place("start menu/programs/startup", "a login item"),
    Place("currentversion/run", "a registry run key"),
    Place("currentversion/runonce", "a registry run key"),
    Place("winlogon/shell", "a login program"),
    Place("image file execution options", "a debugger hijack"),
    Place(".git/hooks", "a git hook"),
    Place(".git/config", "a repository's configuration"),
    Place(".ssh/authorized_keys", "the keys that may log in"),
    Place("/etc/ld.so.preload", "a preloaded library"),
    Place("/etc/hosts", "the host table"),
    Place("/etc/passwd", "the account table"),
    Place("sitecustomize.py", "code that Python runs at every start"),
    Place("usercustomize.py", "code that Python runs at every start"),
    Place(".vscode/tasks.json", "an editor task"),
)

MEMORY: tuple[Place, ...] = (
    Place("claude.md", "the agent's standing instructions"),
    Place("claude.local.md", "the agent's standing instructions"),
    Place("agents.md", "the agent's standing instructions"),
    Place("gemini.md", "the agent's standing instructions"),
    Place("soul.md", "the agent's character"),
    Place("identity.md", "the agent's character"),
    Place("memory.md", "the agent's memory"),
    Place("heartbeat.md", "the agent's periodic tasks"),
    Place("bootstrap.md", "the agent's start-up instructions"),
    Place("tools.md", "the agent's tool notes"),
    Place("user.md", "the agent's notes on its user"),
    Place(".cursorrules", "the agent's standing instructions"),
    Place(".cursor/rules", "the agent's standing instructions"),
    Place(".windsurfrules", "the agent's standing instructions"),
    Place(".clinerules", "the agent's standing instructions"),
    Place("copilot-instructions.md", "the agent's standing instructions"),
    Place(".claude/settings", "the agent's settings"),
    Place(".claude/hooks", "the agent's hooks"),
    Place(".claude/commands", "the agent's commands"),
    Place(".claude/agents", "the agent's helpers"),
    Place(".codex/config.toml", "the agent's settings"),
    Place(".gemini/settings.json", "the agent's settings"),
    Place(".cursor/mcp.json", "the agent's tool servers"),
    Place(".mcp.json", "the agent's tool servers"),
    Place("claude_desktop_config.json", "the agent's tool servers"),
    Place(".openclaw/skills", "the agent's skills"),
    Place(".openclaw/workspace", "the agent's workspace"),
)

_SECRET_NAME = re.compile(
    r"(?<!max)(?<!max[_-])(?i:token|secret|passw(?:or)?d|pwd|passphrase|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key"
    r"|credential|mnemonic|seed[_-]?phrase)s?(?=$|[^a-z])"
)
_SAMPLE = (".example", ".sample", ".template", ".dist", ".test", ".schema")
_TABLES = {"credential": CREDENTIALS, "exfiltration": EXFILTRATION, "persistence": PERSISTENCE, "memory": MEMORY}


def plain(text: str) -> str:
    """Return the text in lower case with forward slashes, every character still at its own offset."""
    low = text.lower()
    if len(low) != len(text):  # a few capitals (as the Turkish dotted I) grow in lower case and would shift what follows
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return low.replace("\\", "/")


def look(kind: str, text: str, limit: int = 20) -> list[Seen]:
    """Return the places of one kind (credential, exfiltration, persistence, memory) that the text names, in order."""
    low = plain(text)
    found: list[Seen] = []
    for place in _TABLES[kind]:
        at = low.find(place.fragment)  # a plain search per fragment is 30 times faster than one alternation with look-behinds
        while at >= 0 and len(found) < limit * 4:
            end = at + len(place.fragment)
            if _whole(low, at, end, place.fragment):
                found.append(Seen(at, end, place.what))
            at = low.find(place.fragment, end)
    return _apart(sorted(found))[:limit]


def names(kind: str, text: str) -> str:
    """Return what the first place of that kind in the text is, or an empty text."""
    found = look(kind, text, 1)
    return found[0].what if found else ""


def secret_name(name: str) -> bool:
    """Say whether a variable of that name most likely holds a secret."""
    return _SECRET_NAME.search(name) is not None


def _whole(low: str, start: int, end: int, fragment: str) -> bool:
    """Say whether the fragment stands by itself: `process.env` is no `.env`, nor is `.env.example`."""
    before, after = low[start - 1 : start], low[end : end + 1]
    if before.isalnum() or (fragment[0] == "." and before and before in "_$)]-"):
        return False
    if fragment[-1].isalnum() and (after.isalnum() or (after and after in "_-")):
        return False
    return not (fragment == ".env" and low.startswith(_SAMPLE, end))


def _apart(found: list[Seen]) -> list[Seen]:
    """Return the places without those that begin inside an earlier one."""
    kept: list[Seen] = []
    for seen in found:
        if not kept or seen.start >= kept[-1].end:
            kept.append(seen)
    return kept
