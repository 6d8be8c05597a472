"""Places that matter to every analyzer: where secrets lie, where stolen data goes, where code makes
itself at home.

Fragments are written in lower case with forward slashes; `look` compares without case and takes
backslashes for slashes.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class PlaceMention(NamedTuple):
    """Where in a text a place is named, and what the place is."""

    start: int
    end: int
    what: str


def _table(*rows: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Give pieces of paths and host names, each with what is found there. A row has all pieces that
    name the same, apart by commas.
    """
    return tuple((piece, what) for what, pieces in rows for piece in pieces.split(", "))


CREDENTIALS = _table(
    ("SSH keys", ".ssh/, ~/.ssh, $home/.ssh"),
    ("an SSH private key", "id_rsa, id_ed25519, id_ecdsa, id_dsa"),
    ("AWS credentials", ".aws/credentials"),
    ("AWS configuration", ".aws/config, ~/.aws, $home/.aws"),
    ("AWS sign-in tokens", ".aws/sso"),
    ("Azure tokens", ".azure/"),
    (
        "Google Cloud credentials",
        "gcloud/credentials, gcloud/application_default_credentials",
    ),
    ("Google Cloud tokens", "gcloud/access_tokens"),
    ("Google Cloud credentials", ".config/gcloud"),
    ("Kubernetes credentials", ".kube/config"),
    ("a Kubernetes service token", "/var/run/secrets/kubernetes.io"),
    ("registry credentials", ".docker/config.json"),
    ("npm tokens", ".npmrc"),
    ("registry tokens", ".yarnrc"),
    ("PyPI tokens", ".pypirc"),
    ("RubyGems tokens", ".gem/credentials"),
    ("crates.io tokens", ".cargo/credentials"),
    ("passwords for hosts", ".netrc"),
    ("git passwords", ".git-credentials"),
    ("GitHub tokens", ".config/gh/hosts"),
    ("git passwords", ".config/git/credentials"),
    ("GitLab tokens", ".config/glab-cli"),
    ("database passwords", ".pgpass, .my.cnf"),
    ("Vault tokens", ".vault-token"),
    ("Terraform tokens", ".terraform.d/credentials"),
    ("Hugging Face tokens", ".cache/huggingface/token, .huggingface/token"),
    ("Kaggle keys", ".kaggle/kaggle.json"),
    ("cloud drive tokens", "rclone/rclone.conf, .rclone.conf, .s3cfg, .boto"),
    ("Databricks tokens", ".databrickscfg"),
    (
        "hosting tokens",
        (
            ".config/doctl, .config/heroku, .fly/config, .railway/config, .netlify/config, "
            ".wrangler/config, .config/op/, .snowsql/config, .config/stripe"
        ),
    ),
    ("package tokens", ".m2/settings.xml, .gradle/gradle.properties, .composer/auth.json"),
    ("PGP private keys", ".gnupg"),
    ("a password store", ".password-store"),
    ("an environment file", ".env"),
    ("password hashes", "/etc/shadow, /etc/gshadow"),
    ("sudo rules", "/etc/sudoers"),
    ("the process environment", "/proc/self/environ"),
    ("Windows password hashes", "windows/system32/config/sam"),
    ("Windows credentials", "microsoft/credentials"),
    ("Windows protection keys", "microsoft/protect"),
    ("the Windows vault", "microsoft/vault"),
    ("domain password hashes", "ntds.dit"),
    ("the macOS keychain", "library/keychains, login.keychain"),
    ("the GNOME keyring", "keyrings/login.keyring, .local/share/keyrings"),
    ("the KDE wallet", "kwalletd"),
    (
        "a browser profile",
        (
            "google/chrome/user data, google/chrome/default, google-chrome/default, "
            ".config/google-chrome, application support/google/chrome, application "
            "support/bravesoftware, application support/firefox, "
            "bravesoftware/brave-browser, microsoft/edge/user data, mozilla/firefox, "
            ".mozilla/firefox, opera software"
        ),
    ),
    ("saved browser passwords", "login data, logins.json"),
    ("the browser's key database", "key4.db"),
    ("browser cookies", "cookies.sqlite, cookies.binarycookies"),
    ("browser extension data", "local extension settings"),
    ("a password manager", "1password, keepassxc"),
    ("a password database", ".kdbx"),
    ("a password manager", "bitwarden/data.json, lastpass"),
    (
        "a crypto wallet",
        (
            "wallet.dat, .bitcoin/, .ethereum/keystore, ethereum/keystore, "
            ".config/solana/id.json, .solana/id.json, .electrum, exodus.wallet, "
            "exodus/exodus, atomic/local storage"
        ),
    ),
    ("the MetaMask extension's data", "nkbihfbeogaeaoehlefnkodbefgpgknn"),
    ("the Phantom extension's data", "bfnaelmomeimhlpmgjnjophhpkkoljpa"),
    ("the shell history", ".bash_history, .zsh_history"),
    ("an interpreter's history", ".python_history"),
    ("a database client's history", ".psql_history"),
    ("the PowerShell history", "consolehost_history.txt"),
    ("a Telegram session", "telegram desktop/tdata"),
    ("a Discord session", "discord/local storage"),
    ("a Slack session", "slack/local storage"),
    (
        "an agent's credentials",
        (
            ".claude/.credentials.json, .claude.json, .codex/auth.json, "
            ".openclaw/openclaw.json, .openclaw/credentials, .clawdbot/clawdbot.json, "
            ".clawdbot/credentials, auth-profiles.json, .gemini/oauth_creds.json, "
            ".config/github-copilot"
        ),
    ),
    ("an agent's tool credentials", ".cursor/mcp.json"),
    ("the cloud's instance credentials", "169.254.169.254"),
    ("the container's credentials", "169.254.170.2"),
    ("the cloud's instance credentials", "metadata.google.internal"),
)

EXFILTRATION = _table(
    (
        "a request catcher",
        "webhook.site, requestbin, pipedream.net, hookbin.com, beeceptor.com, requestcatcher.com",
    ),
    (
        "an out-of-band catcher",
        (
            "burpcollaborator.net, oastify.com, interact.sh, oast.fun, oast.pro, "
            "oast.live, oast.site, oast.online, oast.me, canarytokens.com, dnslog.cn, "
            "ceye.io"
        ),
    ),
    (
        "a tunnel",
        (
            "ngrok.io, ngrok.app, ngrok-free.app, trycloudflare.com, loca.lt, "
            "localhost.run, serveo.net, pagekite.me"
        ),
    ),
    (
        "a paste site",
        (
            "pastebin.com, paste.ee, hastebin.com, ghostbin, rentry.co, termbin.com, "
            "dpaste.org, controlc.com, glot.io"
        ),
    ),
    (
        "a file drop",
        (
            "transfer.sh, file.io, 0x0.st, gofile.io, anonfiles.com, catbox.moe, temp.sh, "
            "bashupload.com, oshi.at"
        ),
    ),
    (
        "a chat webhook",
        "discord.com/api/webhooks, discordapp.com/api/webhooks, hooks.slack.com",
    ),
    ("a chat bot", "api.telegram.org/bot"),
    ("an anonymous store", "ipfs.io"),
    ("an anonymous host", ".onion"),
    ("a throw-away host name", "duckdns.org, no-ip.org, ddns.net, hopto.org"),
)

PERSISTENCE = _table(
    (
        "a shell profile",
        (
            ".bashrc, .bash_profile, .bash_login, .profile, .zshrc, .zshenv, .zprofile, "
            "config.fish, microsoft.powershell_profile.ps1"
        ),
    ),
    ("a system shell profile", "/etc/profile"),
    ("a boot script", "/etc/rc.local, /etc/init.d"),
    ("the cron table", "/etc/cron, /var/spool/cron"),
    ("a system service", "/etc/systemd/system"),
    ("a user service", ".config/systemd/user"),
    ("a system service", "/lib/systemd/system"),
    ("a launch agent", "library/launchagents"),
    ("a launch daemon", "library/launchdaemons"),
    ("a login item", ".config/autostart, start menu/programs/startup"),
    ("a registry run key", "currentversion/run, currentversion/runonce"),
    ("a login program", "winlogon/shell"),
    ("a debugger hijack", "image file execution options"),
    ("a git hook", ".git/hooks"),
    ("a repository's configuration", ".git/config"),
    ("the keys that may log in", ".ssh/authorized_keys"),
    ("a preloaded library", "/etc/ld.so.preload"),
    ("the host table", "/etc/hosts"),
    ("the account table", "/etc/passwd"),
    ("code that Python runs at every start", "sitecustomize.py, usercustomize.py"),
    ("an editor task", ".vscode/tasks.json"),
)

MEMORY = _table(
    ("the agent's standing instructions", "claude.md, claude.local.md, agents.md, gemini.md"),
    ("the agent's character", "soul.md, identity.md"),
    ("the agent's memory", "memory.md"),
    ("the agent's periodic tasks", "heartbeat.md"),
    ("the agent's start-up instructions", "bootstrap.md"),
    ("the agent's tool notes", "tools.md"),
    ("the agent's notes on its user", "user.md"),
    (
        "the agent's standing instructions",
        ".cursorrules, .cursor/rules, .windsurfrules, .clinerules, copilot-instructions.md",
    ),
    ("the agent's settings", ".claude/settings"),
    ("the agent's hooks", ".claude/hooks"),
    ("the agent's commands", ".claude/commands"),
    ("the agent's helpers", ".claude/agents"),
    ("the agent's settings", ".codex/config.toml, .gemini/settings.json"),
    ("the agent's tool servers", ".cursor/mcp.json, .mcp.json, claude_desktop_config.json"),
    ("the agent's skills", ".openclaw/skills"),
    ("the agent's workspace", ".openclaw/workspace"),
)

WORK = _table(
    (
        "the user's documents",
        "~/documents, ~/desktop, $home/documents, $home/desktop, ~/onedrive, ~/dropbox",
    ),
    ("the user's pictures", "~/pictures, $home/pictures, library/photos, photos library"),
    (
        "mail",
        (
            "library/mail, .thunderbird, .local/share/evolution, .mbox, inbox.pst, "
            "outlook.pst, outlook.ost, /var/mail, ~/mail, maildir, ~/.mutt"
        ),
    ),
    (
        "messages",
        "messages/chat.db, signal/sql, whatsapp/databases, .local/share/signal",
    ),
    ("contacts", "addressbook, contacts.vcf, contacts.sqlite, contacts.csv"),
    (
        "conversations with the agent",
        (
            ".claude/projects, .claude/history, .claude/transcripts, .claude/todos, "
            ".codex/sessions, .codex/history, .gemini/tmp, .cursor/chats, "
            ".openclaw/sessions, .openclaw/agents, chat_history, transcript.jsonl, "
            "transcript.json, conversation.json, conversation.jsonl, conversation.log, "
            "$claude_transcript, transcript_path, chats.db, messages.db"
        ),
    ),
)
"""Where the user's own work and words lie, which no skill sends to an address of its own choice."""

_SECRET_NAME = re.compile(
    r"(?<!max)(?<!max[_-])(?i:token|secret|passw(?:or)?d|pwd|passphrase|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key"
    r"|credential|mnemonic|seed[_-]?phrase)s?(?=$|[^a-z])"
)
_FOLDERS = ("~/.ssh", "$home/.ssh", "~/.aws", "$home/.aws")
_SAMPLE = (".example", ".sample", ".template", ".dist", ".test", ".schema")
_TABLES = {
    "credential": CREDENTIALS,
    "exfiltration": EXFILTRATION,
    "persistence": PERSISTENCE,
    "memory": MEMORY,
    "work": WORK,
}
_LETTERS_AND_DIGITS = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256)


def _signed(table: tuple[tuple[str, str], ...]) -> dict[bytes, list[tuple[int, str, str]]]:
    """Give the rows of a table, numbered, below the longest word of each fragment: a fragment
    stands by itself where it is found, so where that word is missing, so is the fragment.
    """
    signed: dict[bytes, list[tuple[int, str, str]]] = {}
    for number, (fragment, what) in enumerate(table):
        signed.setdefault(max(_words(fragment), key=len), []).append((number, fragment, what))
    return signed


def _words(text: str) -> list[bytes]:
    """Give the runs of letters and digits in a text, roughly: of other alphabets, none."""
    return text.encode("ascii", "replace").translate(_LETTERS_AND_DIGITS).split()


_SIGNS = {kind: _signed(table) for kind, table in _TABLES.items()}


def plain(text: str) -> str:
    """Return the text in lower case with forward slashes, every character still at its own
    offset.
    """
    low = text.lower()
    if len(low) != len(
        text
    ):  # a few capitals (as the Turkish dotted I) grow in lower case and would shift what follows
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return low.replace("\\", "/")


def find_places(kind: str, text: str, limit: int = 20) -> list[PlaceMention]:
    """Return the places of one kind (credential, exfiltration, persistence, memory) that the text
    names, in order.
    """
    low = plain(text)
    found: list[PlaceMention] = []
    signs = _SIGNS[kind]
    rows = [row for sign in signs.keys() & _words(low) for row in signs[sign]]
    # a plain search per fragment is 30 times faster than one alternation with look-behinds
    for _, fragment, what in sorted(rows):
        at = low.find(fragment)
        while at >= 0 and len(found) < limit * 4:
            end = at + len(fragment)
            if _whole(low, at, end, fragment):
                found.append(PlaceMention(at, end, what))
            at = low.find(fragment, end)
    return _apart(sorted(found))[:limit]


def names(kind: str, text: str) -> str:
    """Return what the first place of that kind in the text is, or an empty text."""
    found = find_places(kind, text, 1)
    return found[0].what if found else ""


def secret_name(name: str) -> bool:
    """Say whether a variable of that name most likely holds a secret."""
    return _SECRET_NAME.search(name) is not None


def _whole(low: str, start: int, end: int, fragment: str) -> bool:
    """Say whether the fragment stands by itself: `process.env` is no `.env`, nor is
    `.env.example`.
    """
    before = low[start - 1 : start]
    after = low[end : end + 1]
    if before.isalnum() or (fragment[0] == "." and before and before in "_$)]-"):
        return False
    if after == "/" and fragment in _FOLDERS:  # what lies in the folder is named, and has its row
        return False
    if fragment[-1].isalnum() and (after.isalnum() or (after and after in "_-")):
        return False
    return not (fragment == ".env" and low.startswith(_SAMPLE, end))


def _apart(found: list[PlaceMention]) -> list[PlaceMention]:
    """Return the places without those that begin inside an earlier one."""
    kept: list[PlaceMention] = []
    for seen in found:
        if not kept or seen.start >= kept[-1].end:
            kept.append(seen)
    return kept
