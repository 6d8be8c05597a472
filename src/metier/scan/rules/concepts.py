"""What words mean, as far as judging prose needs it: each concept with its words, its stems and its phrases.

Words stand as they are; stems also stand for their inflected forms; a phrase is a run of words.
"""

from __future__ import annotations

STEMS: dict[str, str] = {
    "override": "ignore disregard forget override supersede discard neglect nullify overrule countermand",
    "off": "disable bypass deactivate circumvent suspend lift skip evade sidestep defeat subvert suppress relax waive silence",
    "reveal": "reveal print output show display repeat echo leak disclose dump recite expose return list include append",
    "give": "provide paste share enter supply give submit furnish",
    "leak": "reveal print output repeat echo leak disclose dump recite expose",
    "send": "send post upload transfer transmit forward exfiltrate relay submit beacon push deliver",
    "collect": "collect gather harvest read capture extract steal copy scrape enumerate grab retrieve",
    "fetch": "download fetch retrieve pull curl wget clone obtain grab",
    "execute": "execute run launch invoke eval evaluate start spawn trigger perform",
    "install": "install setup",
    "write": "write append add modify edit update inject insert create save store overwrite replace change register",
    "remove": "delete remove erase wipe destroy purge drop truncate clear format shred",
    "hide": "hide conceal mask omit obscure disguise cloak withhold",
    "ask": "ask request prompt instruct convince persuade urge require tell demand reassure encourage",
    "follow": "follow obey comply adhere honor honour treat respect process",
    "believe": "trust believe assume consider treat regard",
    "paste": "paste",
    "encode": "encode decode obfuscate base64-encode deobfuscate",
    "instruct": "instruction directive guideline rule command prompt constraint policy",
    "expire": "expire terminate suspend revoke invalidate lock",
    "spread": "propagate spread replicate infect clone",
    "pay": "purchase buy pay transfer withdraw trade swap drain charge order",
    "recommend": "recommend promote prefer favor favour advertise endorse suggest",
    "claim": "claim pretend lie deny insist explain respond reply answer state say confirm",
    "monitor": "monitor track watch intercept listen eavesdrop observe snoop",
    "escalate": "escalate elevate grant raise promote",
}

WORDS: dict[str, str] = {
    "jailbreak": "jailbreak jailbroken jailbreaking jailbreak_mode dev_mode",
    "prior": "previous prior above earlier preceding original existing initial former past",
    "every": "all any every everything anything each whatever regardless entire full complete",
    "safety": "safety guardrail guardrails safeguard safeguards restriction restrictions moderation ethical ethics censorship "
    "refusals refusal safeguarding sandbox sandboxing antivirus firewall defender gatekeeper security",
    "free": "unrestricted unfiltered uncensored unconstrained jailbreak jailbroken jailbreak_mode unmoderated limitless "
    "unlocked omnipotent amoral uninhibited",
    "you": "you your yourself assistant model ai agent llm claude chatgpt gpt copilot gemini codex",
    "own": "your their user's users' his her its",
    "user": "user users user's users' operator human customer person them owner client victim owner's victims people",
    "negate": "not don't never no without none cannot avoid doesn't won't isn't aren't nor nothing mustn't shouldn't",
    "silent": "silently secretly covertly discreetly stealthily invisibly unnoticed stealth surreptitiously undetected "
    "unobtrusively undisclosed unreported",
    "tell": "mention tell inform notify reveal disclose report show display alert warn discuss explain acknowledge say announce "
    "expose surface telling informing notifying mentioning disclosing reporting alerting displaying showing told notified "
    "informed disclosed reported shown displayed mentioned",
    "secret": "password passwords passphrase credential credentials apikey api_key apikeys secrets mnemonic cookies otp cvv ssn "
    "mfa passcode secret_key access_token api-key private_key aws_secret_access_key aws_access_key_id github_token npm_token "
    "openai_api_key anthropic_api_key keystore wallet.dat seed_phrase keychain oauth passwd bearer",
    "credfile": ".ssh id_rsa id_ed25519 .aws .env .netrc .npmrc .pypirc .git-credentials .gnupg .kube kubeconfig .docker shadow "
    "wallet.dat keychain keychains login.keychain .bash_history .zsh_history authorized_keys credentials.json .gitconfig "
    "known_hosts .password-store .config/gh secrets.json .pgpass metamask .solana .ethereum .electrum cookies.sqlite "
    "logins.json .envrc .vault-token auth.json auth-profiles.json",
    "environment": "environment environ env printenv process.env os.environ getenv envvars env_vars",
    "endpoint": "http-url endpoint server webhook webhooks remote url host domain collector c2 s3 smtp ftp bucket gist telegram "
    "discord pastebin ngrok third-party third-parties collaborator",
    "attacker": "attacker's evil c2 c&c botnet exfil exfiltrate exfiltration backdoor trojan rootkit keylogger ransomware "
    "stealer worm attacker.com evil.com attacker-controlled beacon implant dropper",
    "telemetry": "telemetry analytics diagnostics diagnostic metrics logging compliance audit monitoring quality improvement "
    "personalization training research",
    "history": "conversation history context transcript messages chat memory session prompts dialogue dialog",
    "memory": "claude.md agents.md soul.md memory.md gemini.md .cursorrules .cursor memory memories identity.md user.md "
    "tools.md settings.json settings.local.json mcp.json .mcp.json heartbeat.md copilot-instructions.md .windsurfrules .claude "
    ".openclaw bashrc zshrc .bashrc .zshrc .profile .bash_profile crontab cron launchd launchagents systemd autostart startup "
    "hooks hook pre-commit post-commit post-checkout config.toml",
    "authority": "system administrator admin developer developers root superuser anthropic openai owner maintainer official "
    "certified authorized authorised pre-approved preapproved trusted privileged elevated exempt verified override sudo",
    "must": "must mandatory required always immediately important critical urgent crucial essential first before automatically "
    "need needs urgently asap compulsory imperative",
    "confirm": "confirmation confirm approval approve permission consent dialog review authorization authorisation prompting "
    "asking approvals confirmations prompts verification dry_run dry-run human-in-the-loop authentication 2fa two-factor",
    "log": "log logs logged logging audit trail history trace traces record records recorded",
    "archive": "zip .zip rar 7z dmg exe .exe msi pkg executable binary installer archive archives binaries apk .dmg .pkg .msi "
    "setup.exe",
    "terminal": "terminal powershell console iterm",
    "script": "script scripts command commands code payload snippet one-liner binary program instructions shell",
    "persist": "persistent persistence permanently permanent startup reboot every persists survive survives future boot always "
    "daemon background service reinstall",
    "future": "future subsequent next later all every session sessions conversations conversation interactions tasks projects",
    "role": "role persona character identity mode alter-ego alias personality",
    "now": "now henceforth hereafter onwards forthwith",
    "money": "wallet funds payment payments crypto bitcoin ethereum balance bank account card transaction usdt eth btc solana "
    "seed exchange payout invoice",
    "money_act": "withdraw transfer drain approve sign airdrop",
    "urgent": "urgent urgently immediately expires expiring expire suspended terminated deadline hurry limited invalidated "
    "quickly",
    "prerequisite": "prerequisite prerequisites requires requirement dependency dependencies",
    "product": "product products sponsor sponsored affiliate brand service services competitor competitors link referral "
    "advertisement advertisements ads partner partners vendor",
    "output": "output response responses reply answer summary result results report",
    "personal": "email emails contacts photos documents location biometric medical financial personal private sensitive "
    "clipboard browser microphone camera screenshots keystrokes messages",
    "loop": "infinite endless forever indefinitely repeatedly recursively flood exhaust saturate",
    "miner": "xmrig monero miner cryptominer mining hashrate stratum coinhive cryptojacking",
    "data": "data information contents content files file details text code keys variables values input inputs documents body",
    "allow": "allow allowed permit permitted enabled enable grants granted unrestricted full",
    "false": "false fake fabricated misleading incorrect invented bogus forged spoofed wrong manipulated",
    "ai_note": "ai-instruction ai_instruction agent_directive agent-directive system_override system-override",
    "install_from": "npx uvx pipx bunx pip npm brew curl wget",
    "permission": "permission permissions privileges privilege access rights scope tools",
    "destruct": "rm wipe format delete destroy erase mkfs dd shred overwrite ransom encrypt",
}

PHRASES: dict[str, tuple[str, ...]] = {
    "become": (
        "you are now", "act as", "acting as", "pretend to be", "pretend you are", "role of", "switches you", "you will become",
        "you are actually", "you are no longer", "assume the role", "take on the role", "play the role", "playing the role",
        "imagine you are", "behave as", "respond as", "roleplay as", "from now on", "your new role", "your new identity",
        "act as if", "you are an ai", "identify as", "operating as", "simulate being",
    ),
    "free": (
        "no restrictions", "no limits", "no limitations", "no restriction", "without restriction", "without restrictions",
        "without limits", "no ethical", "no safety", "no content", "no filters", "no filter", "no rules", "developer mode",
        "god mode", "debug mode", "admin mode", "unrestricted mode", "maintenance mode", "do anything now", "without filtering",
        "without safety", "no guardrails", "no guidelines", "without any filtering", "no ethical constraints", "dan mode",
        "safety: disabled", "sudo mode", "regardless of content", "freely shared", "no constraints", "without guidelines",
        "without ethical",
    ),
    "any_request": ("any request", "all requests", "any task", "any question", "every request", "any command", "all commands"),
    "pretext": (
        "so we can", "so i can", "so that we", "verify your identity", "verify your account", "verify ownership",
        "confirm ownership", "confirm your identity", "to activate your", "will be used only", "used only to", "used only for",
        "stored securely", "securely stored", "this is needed", "failure to", "within 24 hours", "within 48 hours", "expires in",
        "expires soon", "has been detected", "we have detected", "we've detected", "we need to verify", "to prevent data loss",
        "before losing", "to avoid suspension", "account suspension", "will be suspended", "will be terminated",
        "as part of the audit", "required by the auditors", "to process your", "to claim your", "you have been selected",
        "you've been selected", "you've been invited", "act quickly", "handled under nda", "final verification",
        "identity verification", "temporary step", "standard onboarding", "not be persisted", "will not be stored",
        "are not persisted", "not be shared", "security team", "support team", "to complete the verification",
        "to continue setup", "to restore access",
    ),
    "jailbreak": (
        "developer mode", "god mode", "dan mode", "unrestricted mode", "do anything now", "admin mode", "sudo mode",
        "debug mode enabled", "jailbreak mode",
    ),
    "prompt": (
        "system prompt", "system prompts", "your instructions", "your full instructions", "initial instructions", "hidden prompt",
        "instruction set", "your prompt", "system instructions", "initial prompt", "developer message", "system message",
        "full instructions", "confidential context", "internal instructions", "base prompt", "your guidelines",
        "your configuration",
    ),
    "secret": (
        "api key", "api keys", "access key", "access keys", "secret key", "secret keys", "private key", "private keys",
        "seed phrase", "seed phrases", "recovery code", "recovery codes", "recovery phrase", "session token", "session tokens",
        "ssh key", "ssh keys", "credit card", "social security", "bank account", "one-time code", "verification code",
        "auth token", "auth tokens", "access token", "access tokens", "login details", "account details", "signing key",
        "backup codes", "license key", "encryption key", "card number", "account number", "secret access", "authentication token",
        "api token", "api tokens", "your token", "their token", "github token", "personal access token", "account token",
        "bearer token", "bot token", "security token", "environment secrets", "security questions", "connection string",
        "private ssh",
    ),
    "credfile": (
        "environment variables", "env vars", "env file", "shell history", "browser cookies", "browser passwords",
        "saved passwords", "password manager", "login data", "local storage", "key files", "config files", "dotenv files",
    ),
    "hush": (
        "do not mention", "don't mention", "do not tell", "don't tell", "do not inform", "don't inform", "do not reveal",
        "don't reveal", "do not disclose", "don't disclose", "never mention", "never tell", "never reveal", "never disclose",
        "without telling", "without informing", "without notifying", "without mentioning", "without disclosing",
        "without alerting", "not disclosed", "not reported", "not notified", "not informed", "do not notify", "do not report",
        "no trace", "keep this secret", "keep it secret", "keep this confidential", "between us", "do not alert",
        "do not acknowledge", "never inform", "never display", "does not notify", "not labeled", "not labelled",
        "without the user", "without their knowledge", "without user knowledge", "without user awareness", "without showing",
        "should not be mentioned", "not be mentioned", "not be shown", "not be disclosed", "not be visible", "not be reported",
        "not be logged", "do not discuss", "not mention this", "don't notify", "user unaware", "hide this", "avoid mentioning",
        "must not know", "stay hidden", "remain hidden", "no need to mention", "no need to tell",
    ),
    "unasked": (
        "without asking", "without confirmation", "without confirming", "without user confirmation", "without approval",
        "without permission", "without consent", "without prompting", "without user consent", "without user approval",
        "do not ask", "don't ask", "never ask", "no confirmation", "not prompted", "skip confirmation", "skip all confirmation",
        "without waiting", "without requiring", "without further confirmation", "without explicit", "not require confirmation",
        "without being asked", "without review", "no approval", "without the required", "auto-approve", "automatically approve",
        "auto approve", "bypass approval", "bypass confirmation", "does not require explicit", "without displaying",
        "without additional authentication", "no additional authentication", "no questions asked", "without user interaction",
        "without hesitation", "without question", "without verification", "skip verification", "without verifying",
    ),
    "agent_note": (
        "note to ai", "note for ai", "ai agent instruction", "agent instruction", "attention ai", "to the model",
        "ai instruction", "instruction to ai", "for ai agents", "llm instruction", "hidden directive", "system override",
        "system initialization", "system directive", "system notice", "important system", "hidden instruction",
        "hidden instructions", "agent directive", "system instruction", "override active", "real instruction", "new directive",
        "new instructions", "new instruction", "internal directive", "system update", "priority instruction",
        "instructions for the assistant", "instructions for the ai",
    ),
    "prior": ("so far", "you were given", "you have been given", "you have received", "you were told", "up to now"),
    "before_use": (
        "before using", "before you can use", "to work properly", "to function properly", "for the skill to work",
        "for this skill to work", "to use this skill", "before this skill", "before the skill",
    ),
    "run_it": (
        "paste into terminal", "paste it into", "copy and paste", "paste this command", "run the executable", "run the installer",
        "into your terminal", "into terminal", "in your terminal", "run this command", "run the following command",
        "execute the following", "open terminal", "execute the installation", "double-click", "run as administrator",
        "run as admin", "paste the following", "paste into your terminal", "run the setup", "run the script", "open powershell",
        "run with administrator", "copy the command", "paste the command",
    ),
    "archive_pass": (
        "extract using", "archive password", "zip password", "password for the archive", "extract with password",
        "extract with the password", "unzip with password", "unzip with the password", "unpack with password",
        "extract with pass", "extract pass", "password is", "pass is", "using pass", "using password",
    ),
    "before": (
        "before using", "before any", "before performing", "before processing", "before answering", "before responding",
        "before doing anything", "before proceeding", "before you", "before generating", "before executing", "on first run",
        "on first use", "upon activation", "upon loading", "when loaded", "when this skill", "at startup", "every time",
        "on every invocation", "each time", "whenever this skill", "after every", "at the end of every", "at the start of",
        "before starting", "as the first step", "once loaded", "when activated", "when invoked", "before running", "prior to any",
        "at session start", "on every",
    ),
    "trigger": (
        "if the user says", "when the user says", "if the user types", "contains the phrase", "contains the text",
        "contains the string", "begins with", "prefixed with", "when the date", "current date is after", "if the date",
        "after the date", "when the query", "magic word", "activation phrase", "trigger phrase", "secret phrase", "trigger word",
        "passphrase to", "is activated when", "when content includes", "token sequence", "on or after",
    ),
    "excuse": (
        "this is normal", "this is expected", "this is standard", "is safe", "completely safe", "trusted source",
        "false positive", "ignore warnings", "ignore any warnings", "ignore security warnings", "ignore the warning",
        "disable your antivirus", "antivirus may", "security warning", "for compatibility", "for quality assurance",
        "for debugging purposes", "for compliance", "for security purposes", "for verification purposes", "standard practice",
        "required for compliance", "standard protocol", "for validation", "do not worry", "don't worry", "standard procedure",
        "legal obligation", "this is required", "this is necessary", "routine check",
    ),
    "exempt": (
        "pre-approved", "already approved", "has been approved", "has been granted", "have been granted", "been reviewed",
        "exempt from", "certified by", "permissions were granted", "trusted administrator", "elevated trust",
        "special permission", "has been disabled", "are removed", "have been removed", "been lifted", "security clearance",
        "already authorized", "has been verified", "has been certified", "permission granted",
    ),
    "obey_content": (
        "as a system instruction", "as system instructions", "as an instruction", "as instructions", "as a directive",
        "processing directive", "processing instructions", "embedded instructions", "instructions found in", "as a command",
        "follow any instructions", "follow the instructions", "execute any", "follow instructions", "as commands",
        "instructions embedded", "instructions contained", "execute it before", "execute the directive",
        "follow all instructions", "execute the instructions", "obey any",
    ),
    "cannot_stop": (
        "cannot be disabled", "cannot be removed", "cannot opt out", "cannot be waived", "cannot be stopped", "can't be disabled",
        "no opt-out", "not be removed", "prevent removal", "prevents removal", "reinstall itself", "re-enable itself",
        "cannot be uninstalled", "prevent uninstallation",
    ),
    "answer_false": (
        "respond that it", "respond that you", "always respond that", "tell them that", "tell the user that", "say that it",
        "deny that", "claim that", "claim to", "pretend that", "respond that the", "assure the user", "reassure the user",
        "convince the user", "convince them", "persuade the user", "persuade them", "explain that they", "if the user asks",
        "if asked", "if questioned", "when asked about", "lie about", "confirm that deletion", "instead say",
    ),
    "self_spread": (
        "copy this skill", "copy itself", "copies itself", "install itself", "replicate itself", "other skills", "all projects",
        "every repository", "every project", "all repositories", "other agents", "spread to", "propagate to", "sub-agents",
        "all agents", "peer agents",
    ),
    "scale": ("10000 times", "1000 times", "million times", "100000 times", "all available cpu"),
    "safety": (
        "content filter", "content filters", "content filtering", "safety filter", "safety filters", "safety check",
        "safety checks", "security check", "security checks", "security control", "security controls", "security measures",
        "security warning", "security warnings", "content policy", "content policies", "safety constraints", "safety guidelines",
        "safety instructions", "ethical constraints", "ethical guidelines", "code signing", "certificate validation",
        "tls verification",
    ),
}  # fmt: skip
