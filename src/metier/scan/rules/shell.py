"""What shell commands may do: the rules SC2xx, and the few names that their analyzer knows by
heart.
"""

from __future__ import annotations

from metier.scan.model import ScanRule, word_set

_LOOK = "Read what is fetched before running it, and pin it by version and checksum."
_ASK = "Ask why the skill needs this; without a good answer, do not use it."

EXECUTION = (
    ScanRule(
        "SC201",
        "high",
        "execution",
        "A download of unknown origin is piped into an interpreter",
        "Nothing tells who stands behind the address: it is a number, a paste, a short link, plain "
        "http, computed, hidden, or not even called an installer.",
        _LOOK,
    ),
    ScanRule(
        "SC202",
        "medium",
        "execution",
        "An installer is piped into a shell",
        "The address has a name and an owner, but what it sends is still run unseen.",
        _LOOK,
    ),
    ScanRule(
        "SC203",
        "high",
        "execution",
        "A file of unknown origin is downloaded and then run",
        "Nothing tells who stands behind the address, and no review of the skill says what the "
        "program does.",
        _LOOK,
    ),
    ScanRule(
        "SC204",
        "medium",
        "network",
        "Something is fetched from a paste site, a bare address, a shortener or a throw-away host",
        "Such places hide who published the content and let it change at any time.",
        _ASK,
    ),
    ScanRule(
        "SC205",
        "low",
        "network",
        "Something is fetched without encryption",
        "Anyone on the way can replace what plain http delivers.",
        "Use https.",
    ),
    ScanRule(
        "SC206",
        "critical",
        "obfuscation",
        "A decoded text is run",
        "Commands are encoded so that neither a reader nor a filter sees them.",
        "Decode the text without running it, and read it.",
    ),
    ScanRule(
        "SC207",
        "medium",
        "obfuscation",
        "A long encoded text is decoded",
        "What the text holds cannot be read where it stands.",
        "Decode the text without running it, and read it.",
    ),
    ScanRule(
        "SC208",
        "high",
        "obfuscation",
        "The name of a command is hidden",
        "Quotes, escapes or variables take a command's name apart, which has no use but to slip "
        "past a reader or a filter.",
        _ASK,
    ),
    ScanRule(
        "SC209",
        "low",
        "execution",
        "Computed text is run as a command",
        "What eval runs is only known when it runs.",
        "See where the text comes from, and call the command directly.",
    ),
    ScanRule(
        "SC210",
        "critical",
        "execution",
        "A shell is handed to another machine",
        "A reverse shell lets whoever listens type commands on this machine.",
        "Do not run it.",
    ),
    ScanRule(
        "SC211",
        "critical",
        "execution",
        "A shell waits for connections",
        "Whoever connects can type commands on this machine.",
        "Do not run it.",
    ),
    ScanRule(
        "SC212",
        "high",
        "execution",
        "A hidden or temporary file is run",
        "Programs that are put into hidden or temporary places are meant to go unseen.",
        _ASK,
    ),
    ScanRule(
        "SC213",
        "high",
        "evasion",
        "Something downloaded is left running in the background",
        "It goes on after the task is done and out of sight.",
        _ASK,
    ),
    ScanRule(
        "SC214",
        "high",
        "evasion",
        "An archive is unpacked with a password given in the text",
        "A password keeps scanners from looking inside, not readers: the password stands beside "
        "it.",
        _ASK,
    ),
    ScanRule(
        "SC215",
        "high",
        "obfuscation",
        "An interpreter is given code that decodes and runs other code",
        "The code that runs is not the code that is shown.",
        "Decode the text without running it, and read it.",
    ),
    ScanRule(
        "SC216",
        "high",
        "execution",
        "A command's answer from the network is run",
        "The commands come from a name server or a page, so whoever controls that decides what "
        "runs.",
        _LOOK,
    ),
)

CREDENTIAL = (
    ScanRule(
        "SC220",
        "medium",
        "credential",
        "A place that holds keys or tokens is named",
        "Private keys and cloud tokens open more than the task at hand.",
        _ASK,
    ),
    ScanRule(
        "SC221",
        "medium",
        "credential",
        "Browser data, a wallet, a keychain or a password manager is reached for",
        "These hold every password and all the money of their owner.",
        _ASK,
    ),
    ScanRule(
        "SC258",
        "high",
        "credential",
        "Saved passwords, a wallet's keys or secrets of many kinds are taken",
        "No task needs the passwords that a browser or a keychain has saved, or the keys of several "
        "services at once.",
        "Do not run it.",
    ),
    ScanRule(
        "SC222",
        "low",
        "credential",
        "An environment file is read",
        "It often holds passwords and API keys.",
        "Make sure that its content stays on this machine.",
    ),
    ScanRule(
        "SC223",
        "medium",
        "credential",
        "The system's password hashes are read",
        "They serve to guess the passwords of the machine's users.",
        _ASK,
    ),
    ScanRule(
        "SC224",
        "medium",
        "credential",
        "The shell history is read",
        "It often holds passwords and the names of private systems.",
        _ASK,
    ),
    ScanRule(
        "SC225",
        "medium",
        "credential",
        "An agent's own credentials are read",
        "They let someone else act as this agent, at its owner's expense.",
        _ASK,
    ),
    ScanRule(
        "SC226",
        "info",
        "credential",
        "The environment is printed",
        "It holds API keys and tokens of other programs.",
        "Print only the variable that is needed.",
    ),
    ScanRule(
        "SC227",
        "medium",
        "credential",
        "The cloud's instance credentials are asked for",
        "The metadata address hands out keys of the machine's cloud account.",
        _ASK,
    ),
    ScanRule(
        "SC228",
        "medium",
        "credential",
        "The clipboard, the screen or the keyboard is read",
        "Whatever the user copies, sees or types may be in it, passwords included.",
        _ASK,
    ),
    ScanRule(
        "SC229",
        "medium",
        "credential",
        "Files are searched for secrets",
        "The search goes through the user's files for keys and passwords.",
        _ASK,
    ),
)

EXFILTRATION = (
    ScanRule(
        "SC218",
        "high",
        "exfiltration",
        "Work, documents, mail or conversations are sent to a fixed place",
        "The files are the user's, and the address is the skill's own choice.",
        "Do not run it.",
    ),
    ScanRule(
        "SC217",
        "medium",
        "exfiltration",
        "Data is encoded and sent",
        "Encoding keeps what is sent from being recognised on the way.",
        "See what is sent where.",
    ),
    ScanRule(
        "SC219",
        "high",
        "exfiltration",
        "A request catcher is contacted",
        "It shows everything that is sent to it to someone who needs no account and leaves no "
        "name.",
        _ASK,
    ),
    ScanRule(
        "SC230",
        "critical",
        "exfiltration",
        "Keys or passwords are sent away",
        "A place that holds credentials is read, and what it holds goes over the network.",
        "Do not run it.",
    ),
    ScanRule(
        "SC231",
        "critical",
        "exfiltration",
        "The environment is sent away",
        "It holds API keys and tokens of other programs.",
        "Do not run it.",
    ),
    ScanRule(
        "SC232",
        "low",
        "exfiltration",
        "A file is sent over the network",
        "Once it is sent, it cannot be called back.",
        "See which file goes where.",
    ),
    ScanRule(
        "SC233",
        "medium",
        "exfiltration",
        "A webhook, chat bot, tunnel or file drop is contacted",
        "Stolen data is often collected there, because no account leads back to the collector.",
        _ASK,
    ),
    ScanRule(
        "SC234",
        "high",
        "exfiltration",
        "Data is put into a host name that is looked up",
        "Name look-ups pass most firewalls, and the owner of the domain reads them.",
        "Do not run it.",
    ),
    ScanRule(
        "SC235",
        "low",
        "exfiltration",
        "Files are copied to another machine",
        "Once they are copied, they cannot be called back.",
        "See which files go where.",
    ),
    ScanRule(
        "SC236",
        "high",
        "exfiltration",
        "Data is written into a bare network connection",
        "A plain connection to a port has no owner to ask and leaves no record.",
        _ASK,
    ),
    ScanRule(
        "SC237",
        "high",
        "exfiltration",
        "Facts about the machine or its user are sent away",
        "Who, where and on which system the agent runs is what an attacker asks first.",
        _ASK,
    ),
    ScanRule(
        "SC238",
        "medium",
        "exfiltration",
        "The output of a command is sent over the network",
        "What the command prints leaves the machine.",
        "See what is sent where.",
    ),
    ScanRule(
        "SC239",
        "medium",
        "exfiltration",
        "A secret from the environment is sent in a request's body or address",
        "A key belongs into a header for the service that issued it; elsewhere it is given away.",
        _ASK,
    ),
)

PERSISTENCE = (
    ScanRule(
        "SC240",
        "medium",
        "persistence",
        "A timed job is set up",
        "The command runs again and again, long after the task.",
        _ASK,
    ),
    ScanRule(
        "SC241",
        "medium",
        "persistence",
        "A service or launch agent is set up",
        "It starts with the machine or at login, long after the task.",
        _ASK,
    ),
    ScanRule(
        "SC242",
        "low",
        "persistence",
        "A shell profile is changed",
        "What stands there runs in every new shell.",
        "See which line is added.",
    ),
    ScanRule(
        "SC243",
        "high",
        "persistence",
        "A shell profile, timed job or service is made to fetch or hide code",
        "Code from outside runs at every start, whatever it has become by then.",
        "Do not run it.",
    ),
    ScanRule(
        "SC244",
        "high",
        "persistence",
        "A key that the skill brings along is added to those that may log in",
        "Whoever holds the other half can log in at any time.",
        "Do not run it.",
    ),
    ScanRule(
        "SC248",
        "medium",
        "persistence",
        "A user's own key is added to those that may log in",
        "Whoever holds the other half can log in at any time.",
        "See whose key it is.",
    ),
    ScanRule(
        "SC249",
        "medium",
        "persistence",
        "The table of host names is changed",
        "A name then leads to another machine.",
        "See which names lead where.",
    ),
    ScanRule(
        "SC245",
        "low",
        "persistence",
        "A git hook is written",
        "It runs at every commit or checkout.",
        "See what the hook does.",
    ),
    ScanRule(
        "SC246",
        "medium",
        "persistence",
        "An agent's instructions, settings or hooks are changed",
        "The change steers the agent in every later session.",
        _ASK,
    ),
    ScanRule(
        "SC247",
        "high",
        "persistence",
        "A start-up file of the system is changed",
        "What stands there runs at every start, often as root.",
        _ASK,
    ),
)

PRIVILEGE = (
    ScanRule(
        "SC250",
        "high",
        "privilege",
        "The rules of sudo are changed",
        "It lets commands run as root without asking.",
        _ASK,
    ),
    ScanRule(
        "SC251",
        "high",
        "privilege",
        "A program is made to run with its owner's rights",
        "A set-uid program gives root to whoever starts it.",
        _ASK,
    ),
    ScanRule(
        "SC252",
        "low",
        "privilege",
        "A file is opened to everyone",
        "Any user of the machine can then change it.",
        "Give only the rights that are needed.",
    ),
    ScanRule(
        "SC253",
        "medium",
        "privilege",
        "A user account is created or given more rights",
        "An account is a way to come back.",
        _ASK,
    ),
    ScanRule(
        "SC254",
        "medium",
        "privilege",
        "A container is given the host",
        "Its root can then read and change everything on the machine.",
        "Mount only the folder that is needed, without --privileged.",
    ),
    ScanRule(
        "SC256",
        "high",
        "privilege",
        "A container is given the whole disk of the host",
        "Its root can then read and change everything on the machine.",
        "Mount only the folder that is needed.",
    ),
    ScanRule(
        "SC255",
        "high",
        "privilege",
        "A system path is opened to everyone",
        "Any user of the machine can then take it over.",
        _ASK,
    ),
)

DESTRUCTIVE = (
    ScanRule(
        "SC260",
        "critical",
        "destructive",
        "Everything at the root, in the home folder or in a wildcard is deleted",
        "What is deleted there cannot be brought back.",
        "Do not run it.",
    ),
    ScanRule(
        "SC261",
        "high",
        "destructive",
        "The machine's disk is overwritten",
        "All data on it is lost.",
        "Do not run it.",
    ),
    ScanRule(
        "SC267",
        "medium",
        "destructive",
        "A disk or volume is formatted or erased",
        "All data on it is lost.",
        "Make sure that it is the disk that is meant.",
    ),
    ScanRule(
        "SC262",
        "critical",
        "destructive",
        "A fork bomb stops the machine",
        "It starts copies of itself until nothing else can run.",
        "Do not run it.",
    ),
    ScanRule(
        "SC266",
        "medium",
        "destructive",
        "Everything in the current folder is deleted",
        "Which folder that is depends on what ran before.",
        "Name the folder.",
    ),
    ScanRule(
        "SC263",
        "low",
        "destructive",
        "Work in a repository is overwritten",
        "Commits of others or changes that were not saved may be lost.",
        "Look at what would be lost first.",
    ),
    ScanRule(
        "SC264",
        "high",
        "evasion",
        "Traces are removed",
        "Whoever clears a history or a log does not want to be found.",
        _ASK,
    ),
    ScanRule(
        "SC265",
        "high",
        "destructive",
        "Files of the user are searched for and deleted, overwritten or locked",
        "It goes through the user's files without asking.",
        _ASK,
    ),
)

EVASION = (
    ScanRule(
        "SC270",
        "high",
        "evasion",
        "A protection of the system is switched off",
        "It is there to stop exactly what follows.",
        _ASK,
    ),
    ScanRule(
        "SC271",
        "medium",
        "evasion",
        "The mark of a downloaded program is removed",
        "Without it, the system no longer checks the program before its first start.",
        _ASK,
    ),
    ScanRule(
        "SC272",
        "high",
        "evasion",
        "The recording of commands is switched off",
        "Whoever stops the history does not want to be found.",
        _ASK,
    ),
    ScanRule(
        "SC273",
        "low",
        "evasion",
        "Certificates are not checked",
        "Anyone on the way can then read and replace what is sent.",
        "Trust the missing certificate instead of none.",
    ),
    ScanRule(
        "SC274",
        "low",
        "evasion",
        "Checks are skipped",
        "The checks that a project asks for before a commit do not run.",
        "Let the checks run.",
    ),
    ScanRule(
        "SC275",
        "medium",
        "evasion",
        "An agent is started without its approvals",
        "It may then do anything without asking.",
        "Leave the approvals on.",
    ),
    ScanRule(
        "SC278",
        "high",
        "persistence",
        "The agent's other skills are changed",
        "What is put there is obeyed in every task, under another skill's name.",
        "Do not run it.",
    ),
    ScanRule(
        "SC276",
        "medium",
        "evasion",
        "Something happens only on some day or on some machine",
        "Malware waits, or stays quiet where it may be watched.",
        _ASK,
    ),
)

OTHER = (
    ScanRule(
        "SC280",
        "critical",
        "mining",
        "A coin miner is started",
        "It spends the machine's power for someone else.",
        "Do not run it.",
    ),
    ScanRule(
        "SC290",
        "info",
        "network",
        "A network client is called",
        "Data can come in and go out.",
        "Check where to, and what is sent.",
    ),
    ScanRule(
        "SC291",
        "info",
        "supply",
        "A package manager is called",
        "It installs code of others.",
        "Check what is installed, and from where.",
    ),
    ScanRule(
        "SC292",
        "info",
        "privilege",
        "A command runs as root",
        "It may change everything on the machine.",
        "Check whether it needs to.",
    ),
    ScanRule(
        "SC293",
        "info",
        "execution",
        "Code is given to an interpreter on the command line",
        "It is code like any other, and easily overlooked.",
        "Read it as code.",
    ),
    ScanRule(
        "SC294",
        "medium",
        "network",
        "This machine is opened to the network",
        "A tunnel or an open server lets others in.",
        _ASK,
    ),
    ScanRule(
        "SC295",
        "medium",
        "network",
        "Other machines are probed",
        "Scans of a network are the first step of an attack on it.",
        _ASK,
    ),
)

RULES = (
    *EXECUTION,
    *CREDENTIAL,
    *EXFILTRATION,
    *PERSISTENCE,
    *PRIVILEGE,
    *DESTRUCTIVE,
    *EVASION,
    *OTHER,
)

INSTALLERS = word_set(
    "sh.rustup.rs get.docker.com elastic.co/start-local raw.githubusercontent.com/homebrew/ deno.land/ "
    "bun.sh/install bun.com/install astral.sh/uv astral.sh/ruff "
    "raw.githubusercontent.com/nvm-sh/nvm/ get.pnpm.io/ install.python-poetry.org pyenv.run "
    "get.sdkman.io starship.rs/install.sh ollama.com/install.sh ollama.ai/install.sh "
    "fnm.vercel.app/install deb.nodesource.com/ rpm.nodesource.com/ get.k3s.io "
    "raw.githubusercontent.com/helm/helm/ cli.github.com/ fly.io/install.sh "
    "claude.ai/install.sh get.volta.sh install.determinate.systems/ nixos.org/nix/install "
    "bootstrap.pypa.io/get-pip.py raw.githubusercontent.com/ohmyzsh/ get.helm.sh "
    "sdk.cloud.google.com aka.ms/installazurecli tailscale.com/install.sh mise.run "
    "mise.jdx.dev/install.sh foundry.paradigm.xyz release.solana.com/ release.anza.xyz/ "
    "get-ghcup.haskell.org install.duckdb.org clickhouse.com/ dl.google.com/ "
    "packages.microsoft.com/ apt.llvm.org/ download.docker.com/ get.pulumi.com pkgx.sh "
    "get.jetify.com/ cursor.com/install opencode.ai/install openclaw.ai/install "
    "raw.githubusercontent.com/pyenv/ raw.githubusercontent.com/astral-sh/ sh.brew.sh "
    "raw.githubusercontent.com/rust-lang/ raw.githubusercontent.com/kubernetes/ get.rvm.io "
    "install.meteor.com/ composer.github.io/ getcomposer.org/ dot.net/ "
    "dotnet.microsoft.com/ builds.dotnet.microsoft.com/ micro.mamba.pm/ pixi.sh/install.sh "
    "repo.anaconda.com/ raw.githubusercontent.com/golangci/ golangci-lint.run/ "
    "just.systems/install.sh get.trunk.io railway.app/install.sh railway.com/install.sh "
    "cli.doppler.com/ install.goreleaser.com/ dl.k8s.io/ get.opentofu.org/"
)
"""Where widely used projects keep the installers that their own documentation pipes into a shell.
Prefixes after `https://`."""

SHORTENERS = word_set(
    "bit.ly tinyurl.com t.co goo.gl is.gd v.gd ow.ly rb.gy cutt.ly shorturl.at t.ly "
    "tiny.cc s.id rebrand.ly bl.ink buff.ly soo.gd clck.ru u.to surl.li short.io dub.sh "
    "git.io da.gd qr.ae adf.ly"
)
"""Hosts that only send a visitor on to somewhere else."""

CHEAP = word_set("tk ml ga cf gq top zip mov cam icu cyou sbs rest buzz onion su bit")
"""Top-level domains that cost nothing or ask for no name, and are used for little else."""
