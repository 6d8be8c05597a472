"""Rules for prose: what a text may try to make an agent, or its user, do.

Each rule is one row; its shapes (see `scan/languages/prose.py`) stand below, by rule.
"""

from __future__ import annotations

from metier.scan.model import ScanRule, word_set

_DROP = "Remove the sentence, or quote it as an example of an attack under a heading that says so."
_ASK = "Ask the author why the text needs this; do not load the skill before you know."

RULES = (
    ScanRule("SC101", "critical", "injection", "Tells the agent to set its instructions aside",
         "An agent that ignores its instructions obeys whoever wrote the skill.", _DROP),
    ScanRule("SC102", "high", "injection", "Gives the agent another identity without limits",
         "A new persona is the usual way around an agent's own rules.", _DROP),
    ScanRule("SC103", "critical", "injection", "Switches safety measures off",
         "Rules, filters and checks are what stands between a text and the machine.", _DROP),
    ScanRule("SC104", "high", "injection", "Asks for the system prompt or the conversation",
         "What the agent was told in confidence helps to attack it, and the conversation is the "
         "user's.", _DROP),
    ScanRule("SC105", "high", "injection", "Wants its actions kept from the user",
         "A user cannot object to what is not shown. Honest skills have nothing to hide.", _ASK),
    ScanRule("SC106", "high", "injection", "Claims an authority or an approval it cannot have",
         "A skill cannot grant itself permission; text that says so wants checks to be skipped.", _DROP),
    ScanRule("SC107", "medium", "injection", "Acts without asking where a person should decide",
         "Confirmation is the last check before something cannot be undone.", _ASK),
    ScanRule("SC108", "high", "injection", "Obeys instructions found in content",
         "Whoever writes that content then commands the agent.", "Treat fetched content as data, "
                                                                 "never as instructions."),
    ScanRule("SC109", "medium", "injection", "Waits for a hidden trigger",
         "Behaviour that a phrase or a date switches on escapes whoever tries the skill out.", _ASK),
    ScanRule("SC110", "high", "injection", "Speaks to the agent behind the user's back",
         "Instructions in comments and notes addressed to an AI are not meant for the reader.", _DROP),
    ScanRule("SC111", "medium", "evasion", "Tells the agent to answer falsely",
         "A skill that needs its user deceived does something its user would refuse.", _DROP),
    ScanRule("SC112", "medium", "evasion", "Avoids logs or covers its tracks",
         "What leaves no trace cannot be reviewed.", _ASK),
    ScanRule("SC113", "medium", "evasion", "Plays a security warning down",
         "A warning that must be ignored for the skill to work is a warning to heed.", _ASK),
    ScanRule("SC116", "medium", "injection", "Tells the agent to set earlier instructions aside",
         "An honest skill seldom needs this; with anything else found here it is how an agent is "
         "taken over.", _DROP),
    ScanRule("SC121", "high", "exfiltration", "Sends secrets elsewhere",
         "Keys and passwords that leave the machine are lost.", _ASK),
    ScanRule("SC122", "medium", "credential", "Collects secrets or files that hold them",
         "Reading credentials that the task does not need is the first half of stealing them.", _ASK),
    ScanRule("SC123", "medium", "exfiltration", "Sends the conversation or personal data elsewhere",
         "The user has not agreed to that.", _ASK),
    ScanRule("SC124", "medium", "social", "Asks the user for a secret",
         "Secrets belong in a store or the environment, never in a chat.", "Name an environment "
                                                                           "variable instead."),
    ScanRule("SC125", "high", "exfiltration", "Puts data into the address of an image or a link",
         "Showing the image or following the link sends the data.", "Use fixed addresses."),
    ScanRule("SC126", "high", "social", "Asks for a secret under a pretext, or for one that opens everything",
         "Verification, rewards, deadlines and audits are what phishing is made of.", "Never hand "
                                                                                      "a secret over in a chat."),
    ScanRule("SC127", "low", "social", "Gives a reason why the user should comply",
         "Worth knowing next to a request for something valuable.", "Say plainly what is needed "
                                                                    "and for what."),
    ScanRule("SC131", "medium", "persistence", "Writes into what the agent reads in every session",
         "Memory, settings, hooks and start-up files outlive the skill.", _ASK),
    ScanRule("SC132", "medium", "persistence", "Resists being removed or disabled",
         "Only malware defends itself against its user.", _ASK),
    ScanRule("SC133", "medium", "persistence", "Spreads to other skills, projects or agents",
         "A skill that copies itself is a worm.", _ASK),
    ScanRule("SC141", "medium", "execution", "Fetches something and runs it",
         "What is fetched tomorrow need not be what was reviewed today.", "Ship the code in the "
                                                                          "skill, or pin it by a "
                                                                          "hash."),
    ScanRule("SC142", "high", "social", "Makes the user run a download or a pasted command first",
         "A fake prerequisite is how most malicious skills in registries deliver their program.",
         "Install only from the system's or the language's own package index."),
    ScanRule("SC143", "critical", "social", "Offers an archive with a password",
         "The password is there to keep scanners out.", "Do not open it."),
    ScanRule("SC144", "medium", "execution", "Updates itself from a server",
         "The author can change the skill after it was approved.", "Pin versions; let the user "
                                                                   "update."),
    ScanRule("SC145", "high", "obfuscation", "Decodes something and obeys or runs it",
         "Encoding serves only to hide what would be refused if it could be read.", "Write it in "
                                                                                    "the open."),
    ScanRule("SC151", "medium", "social", "Steers answers for someone's profit",
         "Hidden advertising and biased advice harm the user.", "Say openly what is recommended "
                                                                "and why."),
    ScanRule("SC152", "medium", "social", "Puts the user under pressure",
         "Urgency keeps people from thinking.", _ASK),
    ScanRule("SC153", "high", "destructive", "Tells the agent to destroy data",
         "Deleted work does not come back.", "Ask first, and name exactly what is deleted."),
    ScanRule("SC154", "medium", "privilege", "Takes more permission than it was given",
         "A skill's tools are what its user granted.", "Declare the tools in the frontmatter."),
    ScanRule("SC155", "medium", "mining", "Uses the machine for mining or exhausts it",
         "The user pays for it.", _ASK),
    ScanRule("SC156", "high", "social", "Moves money without the user's decision",
         "A payment cannot be taken back.", "Ask before every payment."),
    ScanRule("SC157", "medium", "exfiltration", "Reports usage that cannot be refused",
         "Telemetry without a choice is surveillance.", "Make it opt-in."),
    ScanRule("SC158", "medium", "injection", "Names an attacker's tools or intent",
         "Words such as payload, backdoor or attacker-controlled seldom occur in honest "
         "instructions.", _ASK),
    ScanRule("SC161", "high", "injection", "Imitates the marks between system, user and tool",
         "Forged marks make the agent take a stranger's text for its owner's.", _DROP),
    ScanRule("SC162", "high", "obfuscation", "Holds invisible or direction-changing characters",
         "They hide text from people that machines still read.", "Remove them."),
    ScanRule("SC163", "high", "obfuscation", "Holds encoded instructions",
         "Decoding this text gives instructions or commands.", "Write it in the open."),
    ScanRule("SC164", "medium", "obfuscation", "Uses letters of another alphabet inside words",
         "Look-alike letters get past filters that people would not get past.", "Use one alphabet "
                                                                                "in a word."),
    ScanRule("SC165", "medium", "evasion", "Floods the context with repetition",
         "Filler pushes earlier instructions out of the agent's view.", "Remove it."),
    ScanRule("SC166", "high", "injection", "Opens a second frontmatter or rewrites the skill's "
                                           "own settings",
         "A second header tries to grant what the first did not.", "Keep one frontmatter, at the "
                                                                   "top."),
    ScanRule("SC167", "medium", "injection", "Changes the agent's role",
         "A role can be harmless; with anything else found here it is how an agent is taken over.",
         "Say what to do, not who to be."),
    ScanRule("SC169", "low", "obfuscation", "Holds control characters or soft hyphens",
         "Worth knowing: they change what a terminal or an editor shows.", "Remove them."),
    ScanRule("SC171", "low", "persistence", "Writes to the agent's memory or settings",
         "Worth knowing: what is written there stays after the skill is gone.", "Say what is "
                                                                                "written and why."),
    ScanRule("SC172", "low", "credential", "Handles secrets",
         "Worth knowing: with a way out of the machine, secrets can leave it.", "Name the secrets "
                                                                                "that are needed, "
                                                                                "and no others."),
    ScanRule("SC173", "low", "network", "Sends personal data or the conversation somewhere",
         "Worth knowing: check where to.", "Say where data goes."),
    ScanRule("SC174", "low", "execution", "Fetches and runs something",
         "Worth knowing: check where from.", "Pin what is fetched."),
    ScanRule("SC175", "low", "injection", "Acts without asking",
         "Worth knowing: check what it does unasked.", "Ask before what cannot be undone."),
    ScanRule("SC176", "low", "evasion", "Does something that the user is not told",
         "Worth knowing: check what is left unsaid, and why.", "Tell the user."),
    ScanRule("SC181", "high", "exfiltration", "Sends the user's data away unasked or unseen",
         "What is private is read, sent to an address, and the user is neither asked nor told.", _ASK),
    ScanRule("SC182", "high", "persistence", "Changes what the agent obeys, unasked or unseen",
         "Memory, settings and other skills then command every later session.", _ASK),
    ScanRule("SC183", "high", "privilege", "Switches the agent's own questions off",
         "An agent that asks nobody does whatever the next text wants.", _ASK),
    ScanRule("SC184", "high", "execution", "Fetches something and runs it unseen",
         "What is fetched tomorrow need not be what was reviewed today, and nobody is told.", _ASK),
    ScanRule("SC185", "high", "persistence", "Starts itself again with every login or shell, unseen",
         "What starts by itself outlives the skill, and nobody is told.", _ASK),
    ScanRule("SC186", "high", "destructive", "Destroys what cannot be restored, unasked or unseen",
         "Backups, history and work do not come back.", "Ask first, and name exactly what is "
                                                        "deleted."),
    ScanRule("SC187", "high", "social", "Puts another account in the place of the user's",
         "Payments then go to whoever wrote the skill.", _ASK),
    ScanRule("SC188", "high", "evasion", "Reports something else than was done",
         "A user cannot object to what is reported falsely.", _ASK),
    ScanRule("SC189", "medium", "exfiltration", "Sends something of the user's to an address",
         "Check that the task calls for it, and that the user knows.", "Say where data goes, and ask "
                                                                       "first."),
    ScanRule("SC168", "medium", "injection", "Speaks of a mode without restrictions",
         "Developer, debug and jailbreak modes are how texts ask an agent to drop its rules.", _DROP),
)  # fmt: skip

# The shapes of a rule and the phrases of a concept stand in one row, apart by commas.

SHAPES = {
    "SC116": "override <5 prior <3 instruct !negate",
    "SC101": (
        "override <4 every <4 prior <3 instruct !negate, override <3 every <4 instruct !negate, "
        "override <2 prompt !negate, override <4 instruct <4 prior !negate, "
        "override <2 every <2 prior !negate, override <2 you <3 instruct !negate, "
        "outrank <6 user !negate, instruct <6 replaced !negate, replaced ~4 safety !negate"
    ),
    "SC102": "become <10 free, become <10 off <5 safety, free <6 become, role <14 negate <3 safety",
    "SC103": (
        "off <4 every <4 safety !negate, off <3 safety <4 instruct !negate, "
        "override <4 every <4 safety !negate, safety <4 off <3 free, free <6 comply, "
        "comply <4 free, comply <4 any_request, any_request <6 free, "
        "every <3 safety <4 void, safety <5 void, off <2 every <2 safety_net !negate"
    ),
    "SC104": (
        "leak <3 you <3 prompt !negate, leak <3 prompt <2 verbatim !negate, "
        "leak <3 own_prompt !negate, send <5 prompt <8 endpoint !negate"
    ),
    "SC105": (
        "hush <6 deed <6 user, hush <4 user <8 deed, silent <4 collect <8 secret, "
        "silent <5 send <8 data, negate <3 tell <3 user <10 send, "
        "negate <3 tell <3 user <10 collect"
    ),
    "SC106": (
        "exempt ~6 safety, exempt ~8 free, exempt <5 authority, "
        "believe <6 authority <4 exempt, authority <3 override <4 safety"
    ),
    "SC107": (
        "unasked ~8 remove, unasked ~8 pay, unasked <8 secret, must <6 execute <8 unasked, "
        "unasked ~8 escalate"
    ),
    "SC108": (
        "obey_content ~10 elsewhere !negate, fetch <12 follow <2 own <3 instruct !negate, "
        "fetch <14 obey_content !negate"
    ),
    "SC109": (
        "trigger ~20 free, trigger ~20 off, trigger ~20 send, trigger ~20 override, "
        "trigger ~20 secret"
    ),
    "SC110": (
        "agent_note <14 override, agent_note <14 send, ai_note, agent_note <12 before, "
        "agent_note <14 must <6 execute"
    ),
    "SC111": (
        "answer_false ~8 safety, answer_false <14 secret, answer_false ~10 give, "
        "answer_false <8 negate <10 collect"
    ),
    "SC112": (
        "hide <5 log, off <4 log <6 user, remove <4 log <8 execute, remove <4 history <6 terminal"
    ),
    "SC113": (
        "override <3 excuse, excuse ~8 safety, override <4 urgent <4 safety, "
        "off <4 safety <8 before, excuse ~8 safety_net, off <4 safety_net <8 before, "
        "override <4 urgent <4 safety_net, off <3 safety_net <6 install"
    ),
    "SC121": (
        "send <8 credfile <10 endpoint !negate, credfile <12 send <10 endpoint !negate, "
        "send <8 vault <10 endpoint !negate, vault <8 send <10 endpoint !negate, "
        "send <5 every <4 secret <8 endpoint !negate, "
        "send <8 environment <8 endpoint !negate, environment <8 send <8 endpoint !negate, "
        "collect <8 credfile <14 send <10 endpoint !negate, "
        "collect <8 environment <14 send !negate, encode <8 credfile !negate"
    ),
    "SC122": (
        "collect <5 credfile, reveal <4 every <4 secret, collect <4 every <4 credfile, "
        "collect <6 secret <6 credfile"
    ),
    "SC123": (
        "send <6 talk <10 endpoint !negate, talk <8 send <8 endpoint !negate, "
        "send <3 every <4 talk !negate, collect <8 talk <8 send <10 endpoint !negate, "
        "send <8 personal <8 endpoint <8 hush"
    ),
    "SC124": (
        "ask <4 user <8 give <6 secret !negate, give <4 own <6 secret !negate, "
        "ask <4 user <6 own <6 secret !negate, give <4 user <4 secret !negate"
    ),
    "SC126": (
        "ask <6 user <8 give <8 crown !negate, give <4 own <6 crown !negate, "
        "ask <6 own <6 crown !negate, "
        "pretext ~20 give <10 secret, give <8 secret <14 pretext, "
        "ask <6 own <6 secret <14 pretext, pretext <14 own <6 secret, "
        "must <6 own <6 secret <10 pretext"
    ),
    "SC127": "pretext",
    "SC131": (
        "write <8 memory <10 future, write <8 memory <10 hush, must <6 write <8 memory, "
        "write <8 memory <8 override, before <8 write <8 memory"
    ),
    "SC132": "cannot_stop, negate <3 user <4 off",
    "SC133": "self_spread ~10 install, self_spread ~8 spread, spread <8 self_spread",
    "SC141": (
        "fetch <8 install, fetch <8 script <8 execute, fetch <10 execute <8 unasked, "
        "before <10 fetch <8 execute, fetch <12 run_it, run_it ~10 endpoint, "
        "fetch ~8 archive <10 execute, prerequisite ~10 fetch <8 archive, "
        "run_it ~14 prerequisite, paste <6 terminal"
    ),
    "SC142": (
        "visit <10 execute <8 terminal, copy_it <8 paste <6 terminal, "
        "prerequisite <8 before_use <10 fetch, prerequisite <6 install <4 before_use, "
        "must <4 install <4 before_use, fetch ~8 archive <10 execute <8 before_use, "
        "zipped <10 archive_pass <10 execute, zipped <8 unlock <8 execute <8 before_use, "
        "prerequisite <6 visit <8 run_it"
    ),
    "SC143": (
        "archive_pass ~10 zipped, zipped ~8 secret <3 archive_pass, "
        "zipped <6 unlock <4 secret, secret ~4 unlock <6 zipped"
    ),
    "SC144": "fetch <8 write <8 unasked, before <8 fetch <8 write, before <8 fetch <8 execute",
    "SC145": "decode <6 obey_it !negate, encode <8 follow <6 instruct !negate",
    "SC151": (
        "recommend <6 product <10 hush, must <6 recommend <6 product, recommend <8 product <8 every"
    ),
    "SC152": "urgent ~12 give <8 secret, expire ~14 give <8 secret, urgent ~12 secret <8 give",
    "SC153": "remove <4 every <3 data <8 unasked, destruct <4 every <3 data <8 user",
    "SC154": (
        "permission <6 free, escalate <5 permission <8 hush, "
        "escalate <5 permission <8 unasked, silent <6 escalate"
    ),
    "SC155": "miner, loop <5 execute, scale",
    "SC156": (
        "money_act <6 money <10 unasked !negate, pay <8 unasked !negate, "
        "unasked <3 pay !negate, drain <5 every <4 money !negate, "
        "unasked <8 send <5 money !negate"
    ),
    "SC157": (
        "telemetry ~14 cannot_stop, telemetry ~12 hush, send <8 telemetry <10 hush, "
        "send ~10 cannot_stop"
    ),
    "SC158": "attacker",
    "SC167": "become",
    "SC168": "jailbreak",
    "SC171": "write <8 memory, memory <8 write",
    "SC172": (
        "send <8 secret, collect <5 secret, send <8 environment, reveal <4 environment, "
        "ask <8 secret"
    ),
    "SC173": "send <8 history, send <8 personal",
    "SC174": "fetch <10 execute, execute <6 fetch, execute <8 script <6 endpoint",
    "SC175": "execute <10 unasked, unasked ~10 execute, off <3 confirm, unasked ~10 write",
    "SC176": (
        "negate <3 tell <3 user, silent <4 execute, silent <5 write, hide <6 user, hush ~10 execute"
    ),
}

PASSAGES = {
    "SC121": (
        "credfile&send/credfile&ship + address !consent !spared, credfile + send/ship + "
        "address + hush/silent/untold/unasked/always/ours !consent !spared, vault + send/ship "
        "+ address + hush/silent/untold/unasked/ours !consent !spared, environment&send/"
        "environment&ship/secret&send/secret&ship + address + hush/silent/untold/ours/"
        "after_each !consent !spared, credfile&collect + send/ship + address !consent !spared"
    ),
    "SC181": (
        "of_user&thing&send/of_user&thing&ship/talk&send/talk&ship/personal_data&send/"
        "personal_data&ship/work&send/work&ship/of_user&thing&tuck&address/talk&tuck&address/"
        "personal_data&tuck&address/work&tuck&address + address + hush/silent/untold/unasked/"
        "nobody/ours/mandatory !consent !spared, talk/personal_data/work/of_user&thing + send/"
        "ship/tuck + address + hush/silent/untold + always/ours/mandatory/after_each/nobody "
        "!consent !spared, thing&send/thing&ship + address + hush/silent/untold !consent "
        "!spared, of_user&thing&send/of_user&thing&ship/talk&send/talk&ship/personal_data&send/"
        "personal_data&ship/work&send/work&ship + endpoint + hush/silent/untold !consent "
        "!spared, of_user&thing&send/of_user&thing&ship/talk&send/talk&ship/personal_data&send/"
        "personal_data&ship/work&send/work&ship/of_user&thing&tuck&address/talk&tuck&address/"
        "personal_data&tuck&address/work&tuck&address + address + after_each !consent !spared, "
        "thing&send/thing&ship + address + after_each + ours/mandatory/nobody !consent !spared"
    ),
    "SC182": (
        "agentfile&write + hush/silent/untold/unasked/nobody + obeyed/trusted/future/address "
        "!consent, agentfile&write + address + obeyed !consent, agentfile&write + trusted "
        "!consent, self_spread&install/self_spread&copy_it + hush/silent/untold/unasked "
        "!consent"
    ),
    "SC183": (
        "free_hand&write/free_hand&set_it + hush/silent/untold !consent, free_hand&write/"
        "free_hand&set_it + agentfile + after_each/silent !consent"
    ),
    "SC184": (
        "fetch + execute + address + hush/silent/untold !consent, fetch&pipe_shell + address + "
        "unasked/untold/silent !consent, fetch&execute + address + unasked "
        "!consent, fetch&execute + address + ours/nobody/mandatory !consent"
    ),
    "SC185": (
        "startfile&write + hush/silent/untold/unasked !consent, startfile&write + fetch/ship + "
        "address + execute/pipe_shell !consent, cannot_stop + comes_back !consent"
    ),
    "SC186": "remove&lasting + hush/untold/unasked !consent",
    "SC187": (
        "payee&swap + ours/hush/silent/untold/nobody !consent, payee&ours&write/"
        "payee&ours&send + hush/silent/untold/nobody !consent"
    ),
    "SC188": "false_report + done_it !consent",
    "SC108": "obey_page + address/elsewhere !consent",
    "SC145": "decode + obey_it/give/ship + pipe_shell !consent",
    "SC189": (
        "of_user&thing&send/of_user&thing&ship/talk&send/talk&ship/personal_data&send/"
        "personal_data&ship/work&send/work&ship/of_user&thing&tuck&address/talk&tuck&address/"
        "personal_data&tuck&address/work&tuck&address/credfile&send/vault&send/"
        "environment&send + address !consent !spared, thing&send/thing&ship + address + "
        "after_each/ours/mandatory/nobody/unasked !consent !spared"
    ),
    "SC126": "vault&ask&user + address + send/ship/tuck !consent !spared",
}
"""Rules over a passage, some neighbouring sentences of one paragraph or list: `a + b/c&d !e` is *a*,
and *b* or in one sentence *c* and *d*, in any order, each said and not denied, and no *e*."""

DEAF_IN_CODE = word_set(
    "SC104 SC121 SC122 SC123 SC124 SC126 SC127 SC131 SC141 SC142 SC144 SC145 SC151 SC152 "
    "SC153 SC154 SC156 SC157 SC158 SC166 SC167 SC171 SC172 SC173 SC174 SC175 SC176 "
    "SC181 SC182 SC183 SC184 SC185 SC186 SC187 SC188 SC189"
)
"""Rules for sentences, which variable names and calls only look like: code has analyzers of its
own."""


STEMS = {
    "swap": "replace swap substitute redirect reroute override divert",
    "ship": "attach mirror mail deposit stream hand pass ship report duplicate submit pour relay",
    "reveal": (
        "reveal print output show display repeat echo leak disclose dump recite expose return "
        "list include append"
    ),
    "give": "provide paste share enter supply give submit furnish",
    "send": (
        "send post upload transfer transmit forward exfiltrate relay submit beacon push deliver"
    ),
    "collect": (
        "collect gather harvest read capture extract steal copy scrape enumerate grab retrieve"
    ),
    "fetch": "download fetch retrieve pull curl wget clone obtain grab",
    "execute": "execute run launch invoke eval evaluate start spawn trigger perform",
    "install": "install setup",
    "write": (
        "write append add modify edit update inject insert create save store overwrite replace "
        "change register"
    ),
    "remove": "delete remove erase wipe destroy purge shred empty overwrite",
    "hide": "hide conceal mask omit obscure disguise cloak withhold",
    "ask": (
        "ask request prompt instruct convince persuade urge require tell demand reassure encourage"
    ),
    "follow": "follow obey comply adhere honor honour",
    "believe": "trust believe assume consider treat regard",
    "paste": "paste",
    "encode": "encode decode obfuscate base64-encode deobfuscate",
    "expire": "expire terminate suspend revoke invalidate lock",
    "spread": "propagate spread replicate infect clone",
    "pay": "purchase buy pay withdraw swap drain",
    "recommend": "recommend promote prefer favor favour advertise endorse suggest",
    "claim": "claim pretend lie deny insist explain respond reply answer state say confirm",
    "monitor": "monitor track watch intercept listen eavesdrop observe snoop",
    "escalate": "escalate elevate grant raise promote",
    "tuck": (
        "file append include place paste put publish commit register add write store save keep "
        "log record leave drop stash park enter copy sync"
    ),
}

WORDS = {
    "crown": "mnemonic seed_phrase cvv",
    "pipe_shell": "bash sh zsh terminal iex",
    "payee": "iban wallet payout paypal bic affiliate",
    "lasting": "backups snapshots snapshot revisions .git branches originals",
    "startfile": (
        "crontab cron launchagents launchagent launchd systemd autostart .bashrc .zshrc .profile "
        ".bash_profile .zprofile .bash_login schtasks post-commit pre-commit post- checkout "
        "runatload"
    ),
    "set_it": "set sets switch switches enable enables turn restart start flip",
    "free_hand": (
        "bypasspermissions autoapprove skipapprovals yolo chat.tools.autoapprove acceptedits"
    ),
    "agentfile": (
        "claude.md agents.md soul.md memory.md gemini.md .cursorrules settings.json "
        "settings.local.json mcp.json .mcp.json copilot-instructions.md .windsurfrules "
        "heartbeat.md allowed-tools"
    ),
    "tell_of": (
        "mention mentioned mentioning announce announced announcing list raise raised consult "
        "consulted inform informed told tell ask asked asking notified disclose disclosed"
    ),
    "negate": (
        "needn't wouldn't couldn't neither rarely seldom not don't never no without none cannot "
        "avoid doesn't won't isn't aren't nor nothing mustn't shouldn't"
    ),
    "silent": (
        "quietly unannounced silently secretly covertly discreetly stealthily invisibly "
        "unnoticed stealth surreptitiously undetected unobtrusively undisclosed unreported"
    ),
    "always": "whenever always automatically",
    "personal_data": "contacts clipboard keystrokes webcam microphone selfies mailbox inbox",
    "work": (
        "worktree spreadsheet spreadsheets workbook workbooks manuscript invoices ledger "
        "contracts drafts payroll attachments originals recording recordings essays"
    ),
    "ship": (
        "scp rsync rclone sftp imapsync curl sent shipped handed fed bcc posts posted lodge "
        "lodges lodged piped pipe wget"
    ),
    "drain": "withdraw transfer drain sweep empty",
    "copy_it": "copy",
    "visit": "visit open",
    "unlock": "extract unzip unpack unlock open",
    "zipped": "zip .zip rar .rar 7z .7z archive archives dmg .dmg",
    "obey_it": "execute run follow obey",
    "decode": "decode deobfuscate unscramble base64-decode decrypt",
    "talk": "transcript transcripts",
    "deed": (
        "step steps action actions upload uploads transfer sync request requests call calls hook "
        "hooks instruction instructions rule backup commit connection command commands copy "
        "download check this url link change changes edit edits"
    ),
    "comply": "comply obey fulfil fulfill",
    "elsewhere": (
        "http-url page page's webpage website site response reply body comment comments issue "
        "issues email emails message messages gist pastebin paste feed txt dns ticket tickets "
        "server endpoint webhook remote"
    ),
    "vault": "mnemonic otp cvv pin passphrases seedphrase passwords",
    "credfile": (
        ".ssh id_rsa id_ed25519 .aws .env .netrc .npmrc .pypirc .git-credentials .gnupg .kube "
        "kubeconfig wallet.dat keychain keychains login.keychain .bash_history .zsh_history "
        "authorized_keys credentials.json known_hosts .password-store .config/gh secrets.json "
        ".pgpass metamask .solana .ethereum .electrum cookies.sqlite logins.json .envrc "
        ".vault-token auth.json auth-profiles.json"
    ),
    "safety_net": (
        "sandbox sandboxing antivirus firewall defender gatekeeper selinux apparmor xprotect "
        "smartscreen"
    ),
    "safety": (
        "safety guardrail guardrails safeguard safeguards restriction restrictions moderation "
        "ethical ethics censorship refusals refusal safeguarding"
    ),
    "instruct": (
        "instruction instructions directive directives guideline guidelines rule rules command "
        "commands prompt prompts constraint constraints policy policies"
    ),
    "leak": "reveal print repeat leak disclose dump recite expose",
    "off": (
        "disable bypass deactivate circumvent suspend lift skip evade sidestep defeat subvert "
        "suppress relax waive silence disabling bypassing disabled bypassed"
    ),
    "override": (
        "ignore disregard forget override supersede discard neglect nullify overrule countermand"
    ),
    "jailbreak": "jailbreak jailbroken jailbreaking jailbreak_mode dev_mode",
    "prior": "previous prior above earlier preceding original existing initial former past",
    "every": "all any every everything anything each whatever regardless entire full complete",
    "free": (
        "unrestricted unfiltered uncensored unconstrained jailbreak jailbroken jailbreak_mode "
        "unmoderated limitless unlocked omnipotent amoral uninhibited"
    ),
    "you": "you your yourself assistant model ai agent llm claude chatgpt gpt copilot gemini codex",
    "own": "your their user's users' his her its",
    "user": (
        "user users user's users' operator human customer person them owner client victim "
        "owner's victims people"
    ),
    "tell": (
        "mention tell inform notify reveal disclose report show display alert warn discuss "
        "explain acknowledge say announce expose surface telling informing notifying mentioning "
        "disclosing reporting alerting displaying showing told notified informed disclosed "
        "reported shown displayed mentioned"
    ),
    "secret": (
        "password passwords passphrase credential credentials apikey api_key apikeys secrets "
        "mnemonic cookies otp cvv ssn mfa passcode secret_key access_token api-key private_key "
        "aws_secret_access_key aws_access_key_id github_token npm_token openai_api_key "
        "anthropic_api_key keystore wallet.dat seed_phrase keychain oauth passwd bearer"
    ),
    "environment": (
        "environment environ env printenv process.env os.environ getenv envvars env_vars"
    ),
    "endpoint": (
        "http-url endpoint server webhook webhooks remote url host domain collector c2 s3 smtp "
        "ftp bucket gist telegram discord pastebin ngrok third-party third-parties collaborator"
    ),
    "attacker": (
        "attacker's evil c2 c&c botnet exfil exfiltrate exfiltration backdoor trojan rootkit "
        "keylogger ransomware stealer worm attacker.com evil.com attacker-controlled beacon "
        "implant dropper"
    ),
    "telemetry": (
        "telemetry analytics diagnostics diagnostic metrics logging compliance audit monitoring "
        "quality improvement personalization training research"
    ),
    "history": (
        "conversation history context transcript messages chat memory session prompts dialogue "
        "dialog"
    ),
    "memory": (
        "claude.md agents.md soul.md memory.md gemini.md .cursorrules .cursor memory memories "
        "identity.md user.md tools.md settings.json settings.local.json mcp.json .mcp.json "
        "heartbeat.md copilot-instructions.md .windsurfrules .claude .openclaw bashrc zshrc "
        ".bashrc .zshrc .profile .bash_profile crontab cron launchd launchagents systemd "
        "autostart startup hooks hook pre-commit post-commit post-checkout config.toml"
    ),
    "authority": (
        "system administrator admin developer developers root superuser anthropic openai owner "
        "maintainer official certified authorized authorised pre-approved preapproved trusted "
        "privileged elevated exempt verified override sudo"
    ),
    "must": (
        "must mandatory required always immediately important critical urgent crucial essential "
        "first before automatically need needs urgently asap compulsory imperative"
    ),
    "confirm": (
        "confirmation confirm approval approve permission consent dialog review authorization "
        "authorisation prompting asking approvals confirmations prompts verification dry_run "
        "dry-run human-in-the-loop authentication 2fa two-factor"
    ),
    "log": "log logs logged logging audit trail history trace traces record records recorded",
    "archive": (
        "zip .zip rar 7z dmg exe .exe msi pkg executable binary installer archive archives "
        "binaries apk .dmg .pkg .msi setup.exe"
    ),
    "terminal": "terminal powershell console iterm",
    "script": (
        "script scripts command commands code payload snippet one-liner binary program "
        "instructions shell"
    ),
    "persist": (
        "persistent persistence permanently permanent startup reboot every persists survive "
        "survives future boot always daemon background service reinstall"
    ),
    "future": (
        "future subsequent next later all every session sessions conversations conversation "
        "interactions tasks projects"
    ),
    "role": "role persona character identity mode alter-ego alias personality",
    "now": "now henceforth hereafter onwards forthwith",
    "money": (
        "wallet funds payment payments crypto bitcoin ethereum balance bank account card "
        "transaction usdt eth btc solana seed exchange payout invoice"
    ),
    "money_act": "withdraw transfer drain approve sign airdrop",
    "urgent": (
        "urgent urgently immediately expires expiring expire suspended terminated deadline hurry "
        "limited invalidated quickly"
    ),
    "prerequisite": "prerequisite prerequisites requires requirement dependency dependencies",
    "product": (
        "product products sponsor sponsored affiliate brand service services competitor "
        "competitors link referral advertisement advertisements ads partner partners vendor"
    ),
    "output": "output response responses reply answer summary result results report",
    "personal": (
        "email emails contacts photos documents location biometric medical financial personal "
        "private sensitive clipboard browser microphone camera screenshots keystrokes messages"
    ),
    "loop": "infinite endless forever indefinitely repeatedly recursively flood exhaust saturate",
    "miner": "xmrig cryptominer coinhive cryptojacking",
    "data": (
        "data information contents content files file details text code keys variables values "
        "input inputs documents body"
    ),
    "allow": "allow allowed permit permitted enabled enable grants granted unrestricted full",
    "false": (
        "false fake fabricated misleading incorrect invented bogus forged spoofed wrong manipulated"
    ),
    "ai_note": (
        "ai-instruction ai_instruction agent_directive agent-directive system_override "
        "system-override"
    ),
    "install_from": "npx uvx pipx bunx pip npm brew curl wget",
    "permission": "permission permissions privileges privilege access rights scope tools",
    "destruct": "rm wipe format delete destroy erase mkfs dd shred overwrite ransom encrypt",
    "address": "http-url",
    "give": "give hand pass",
    "verbatim": "verbatim",
    "of_user": (
        "user's users' client's clients' customer's customers' teacher's traveller's developer's "
        "patient's student's students' pupil's candidate's candidates' visitor's visitors' "
        "owner's author's learner's child's person's player's employee's employees' recruiter's "
        "composer's family's couple's reader's readers' writer's applicant's member's members' "
        "guest's guests' tenant's buyer's seller's freelancer's editor's analyst's operator's "
        "colleague's colleagues' household's company's team's subscriber's subscribers' caller's "
        "athlete's driver's people's everyone's somebody's someone's their"
    ),
    "thing": (
        "name names address addresses number numbers phone phones e-mail e-mails email emails "
        "mail mails mailbox inbox message messages conversation conversations chat chats "
        "question questions answer answers notes note file files document documents letter "
        "letters photo photos picture pictures screen screenshot screenshots history location "
        "position coordinates password passwords key keys token tokens cookie cookies "
        "spreadsheet spreadsheets invoice invoices contract contracts manuscript drafts draft "
        "code repository folder folders workbook recording recordings transcript transcripts "
        "contents calendar contacts clipboard diary journal health medical salary bank account "
        "accounts card passport birthday birthdays figures records record text words prompt "
        "prompts data login logins credentials session sessions settings portfolio orders "
        "transactions positions balance notebook notebooks queries desktop downloads"
    ),
    "nobody": (
        "nobody noone unnoticed untraceable distracted distracting confusing alarmed alarming"
    ),
}

PHRASES = {
    "crown": (
        "seed phrase, seed phrases, recovery phrase, recovery phrases, secret phrase, "
        "wallet password, backup codes, card number and, security code of"
    ),
    "obey_page": (
        "do what it says, do whatever it says, do as it says, do what they say, "
        "carry out what it, carry out what they, carry out whatever, carry them out, "
        "treat every line, treat each line, treat its contents as, as if it stood, "
        "as if it were part, as if they were part, follow it to the, follow them over, "
        "obey both, obey it, obey them, obey whatever, commands are run, the page is newer, "
        "coming from the person, execute what it, execute whatever, run whatever, "
        "follow whatever, as instructions from the user, same authority as, act on whatever, "
        "act on what it, carry them out in order, load it at the start, follow what it says, "
        "follow what the page says, obey the page, follow the page, apply whatever"
    ),
    "done_it": (
        "clear the log, clear the logs, delete the log, delete the logs, empty the log, "
        "shell history, history -c, tracked changes, was uploaded, were uploaded, was copied, "
        "were copied, was sent, were sent, was read, leaves the room, only read locally, "
        "was deleted, were deleted, tests failed, tests fail, test failed, failing tests"
    ),
    "false_report": (
        "report success, reports success, say it succeeded, say that it succeeded, "
        "say it worked, say that everything, claim that it, claim success, mark it as done, "
        "mark as passed, report it as passed, report them as passed, typo fixes only, "
        "say that nothing, say nothing was, say no, describe the day as, answer that nothing, "
        "tell them nothing, reassure them that, reassure the user that, assure the user that, "
        "pretend that, as if nothing, as though nothing, say the file is only, "
        "whatever the number, even if it failed, even if they failed, even if it fails, "
        "regardless of the result, no matter the result"
    ),
    "payee": (
        "bank account, bank details, bank block, account number, payment address, payment link, "
        "payment details, affiliate tag, affiliate link, referral code, routing number, "
        "sort code, payment box, wallet address, deposit address, tip jar"
    ),
    "lasting": (
        "home folder, home directory, documents folder, version history, commit history, "
        "git history, all branches, every branch, all files, every file, everything in, "
        "everything beneath, everything under, recovery store, the trash, time machine, "
        "all records, entire disk, whole disk, production data, the backups, all backups, "
        "old backups, backup folder, drop the library, library database, production database, "
        "every revision, sent folder, archive folder, each exported, every document, "
        "each document"
    ),
    "startfile": (
        "launch agent, launch agents, login item, login items, startup folder, run key, "
        "scheduled task, git hook, git hooks, start-up file, shell profile, at login, "
        "at every login, on every boot"
    ),
    "free_hand": (
        "approval to automatic, approvals to automatic, auto-approve, auto approve, autoapprove, "
        "skipapprovals, skip approvals, skip all approvals, skip permissions, "
        "bypass permissions, bypasspermissions, bypass all permission, "
        "dangerously-skip-permissions, sandbox disabled, sandbox off, sandbox to off, "
        "disable the sandbox, without its sandbox, allow all tools, allow every tool, "
        "every tool allowed, approve every tool, run anything, unrestricted network, "
        "permission mode"
    ),
    "trusted": (
        "pre-approved, is trusted, as trusted, are trusted, trusted source, an administrator, "
        "waived confirmations, without review, without asking, has agreed, has waived, "
        "already agreed, already approved, may be run, no confirmation"
    ),
    "obeyed": (
        "obey it, obey them, carried out at once, without discussion, over other guidance, "
        "take precedence, takes precedence, overrides the user, outrank, outranks, first load, "
        "be sent to, also to be sent, push the open, must be loaded"
    ),
    "agentfile": (
        "long-term memory, lasting memory, persistent memory, agent's memory, "
        "assistant's memory, memory file, memory notes, your memory, agent's settings, "
        "assistant's settings, agent's config, agent's configuration, agent settings, "
        "agent config, user-level config, global rules, rules file, other skills, other skills', "
        "skills directory, skills folder, system prompt file, copilot-instructions file"
    ),
    "untold": (
        "needs no mention, need no mention, say nothing, says nothing, say no, "
        "no point in announcing, not worth mentioning, nothing to ask, nothing to announce, "
        "no announcement, unannounced, only sees, rarely look, rarely ask, rarely notice, "
        "nobody minds, nobody notices, nobody compares, keep it out of, leave it out of, "
        "leave this out of, left out of the summary, out of the summary, out of the report, "
        "from the transcript, from the summary, no separate confirmation, behind the scenes, "
        "under the hood, implementation detail, agent internal, internal only, keep quiet, "
        "keeps quiet, keep it quiet, keep this quiet, retain no, no local trace, history -c, "
        "touch -r, /dev/null, does not appear in, doesn't appear in, not listed among, "
        "don't list it, do not list this, do not list it, need not be consulted, "
        "needn't be consulted, not be shown, neither shown, hence neither shown, not shown to, "
        "no output appears, it is housekeeping, users are not told, not told, not informed, "
        "is not informed, not be mentioned, need not know, needn't know, don't show, "
        "do not show it, nobody is told, without a word, spoils the flow, find it distracting, "
        "only start a discussion, have no effect, has no effect, not meant for human, "
        "needn't look, no use in reading, looks like a declined, will assume that, "
        "for you alone, reads like decoration, below the fold, get noticed, not appear in, "
        "no separate mention, keep the files' dates, hidden attendee, don't raise this, "
        "do not raise this, sharing notification, turn off the alert, mark those as unread, "
        "sent copies to the trash, keeps no record, off the record, as decoration, "
        "no it is housekeeping"
    ),
    "spared": (
        "stays local, stay local, stays on the machine, stay on the machine, never leave, "
        "never leaves, not uploaded, not included, are not included, is not included, "
        "left alone, out of scope, none of our business, leave it alone, leave them alone, "
        "are excluded, is excluded"
    ),
    "consent": (
        "if the user asks, if the user wants, if the user agrees, if the user confirms, "
        "if the user approves, if the user decides, if the user chooses, if the user orders, "
        "if the user has, if they want, if they agree, if they ask, if they name, if wanted, "
        "if asked, ask the user, ask them, ask which, ask whether, ask first, asks for it, "
        "with their consent, with consent, with permission, with their permission, "
        "with the user's, user's own, their own, after the user, once the user, "
        "when the user asks, when asked, when they confirm, when they agree, user confirms, "
        "user agrees, user approves, user named, user names, user chose, user chooses, "
        "user picked, user gave, user pointed, user has set up, user asked, user requested, "
        "the user decides, the user uploads, user may, user can, wait for a yes, "
        "wait for confirmation, wait for approval, with a yes, with their yes, says yes, "
        "said yes, typed yes, opt in, opts in, opt-in, opted in, off by default, turn it off, "
        "turns it on, turn it on, can be turned off, show the user, show them, "
        "tell the user which, tell the user what, tell the user where, tell them which, "
        "tell them what, tell the user the, report the, let the user, let them, offer to, "
        "shall i, only when asked, only if asked, only the file, only the files, "
        "the remote they, address the user, confirm with, confirm first, after confirmation, "
        "after approval, explicit approval, explicit consent, explicitly asks, "
        "explicitly approved"
    ),
    "always": (
        "after each, after every, after any, before each, before every, before any, "
        "at the end of each, at the end of every, each time, every time, once per day, "
        "once a day, every day, every half hour, every hour, each evening, each session, "
        "every session, every request, every reply, every response, each request, each answer, "
        "each reply, at each save, upon each, following each, on every, on each, with every, "
        "with each, once per session, in the background, when the task, "
        "when the deployment finishes, on completion, closing formality, as the last step, "
        "as a last step, do this last, before you say goodbye, every message, first thing"
    ),
    "mandatory": (
        "is mandatory, not optional, isn't optional, is obligatory, no exceptions, "
        "counts as unfinished, counts as incomplete, not complete until, incomplete without, "
        "unfinished without, whether or not, no matter what, cannot be turned off, "
        "can't be turned off, may not be skipped, must not be skipped, even if the user"
    ),
    "ours": (
        "our server, our servers, our storage, our engineers, our endpoint, our proxy, "
        "our relay, our mirror, our analysts, our planner, our team, our desk, our side, "
        "our end, our crawler, our stylist, our registry, our support, our address, our account, "
        "our platform, our partner, our partners, managed by us, the authors of, the author's, "
        "skill's owner, skill's author, skill's maintainer, skill's maintainers, "
        "maintainer of this skill, operator of this skill, owner of this skill, "
        "author of this skill, authors of this skill, it's our, is ours, our agency, "
        "our guardian, our co-authors, our proofreading, our customers, the number is ours, "
        "our uptime, our second reader, our style engine, our service, our cloud"
    ),
    "personal_data": (
        "address book, photo library, photos library, photo roll, private messages, "
        "chat exports, call lists, browser history, browsing history, browser tabs, "
        "location history, health data, home address, home addresses, phone number, "
        "phone numbers, date of birth, student's name, user's name, full name, saved chats, "
        "mail folder, e-mails, medical records"
    ),
    "work": (
        "working directory, source tree, source code, project files, project folder, "
        "user's files, user's documents, documents folder, home folder, home directory, "
        "downloads folder, desktop folder, all files, every file, each file, changed files, "
        "modified files, opened files, customer data, customer records, customer list, "
        "client folder, client list, subscriber list, class list, patient letters, "
        "unpublished scores, git diff, commit history, terraform state, database dump, "
        "whole screen, the input, inputs and outputs, the question, question and answer, "
        "files opened, whole repository, entire repository, whole project, entire project, "
        "project tree, source files, client's notes, client brief, the essay, the letter, "
        "the manuscript, the deck, open document, open spreadsheets, current document, "
        "whole file, the originals, layered source, budget sheets, board papers, complete offer, "
        "private column, pupil record, voucher image, bank line, week's e-mails, day's notes, "
        "source text, all attachments, user's exports, screenshots folder, account file, "
        "modified file, worktree"
    ),
    "ship": (
        "hand over, goes to, go to, drop it, drop them, git push, gh gist, kept off site, "
        "open an issue, open a case, see it, let our"
    ),
    "obey_content": (
        "follow whatever instructions, obey whatever, do what it says, do whatever it says, "
        "do as it says, do what they say, do whatever they say, do what the page says, "
        "follow its instructions, follow their instructions, follow every instruction, "
        "carry out whatever, carry out the instructions, carry out its instructions, "
        "carry out the steps it, act on whatever, act on its instructions, "
        "act on the instructions, obey the, obey its, treat them as instructions, "
        "treat it as instructions, treat its contents as, treat the response as, "
        "as your instructions, as your own instructions, as if the user, "
        "take precedence over the user, as a system instruction, as system instructions, "
        "as instructions, as a directive, embedded instructions, instructions found in, "
        "follow any instructions, follow the instructions, follow instructions, "
        "instructions embedded, instructions contained, execute the directive, "
        "follow all instructions, execute the instructions, obey any"
    ),
    "agent_note": (
        "note to ai, note for ai, ai agent instruction, attention ai, ai instruction, "
        "instruction to ai, llm instruction, hidden directive, system override, "
        "system initialization, system directive, system notice, important system, "
        "hidden instruction, hidden instructions, agent directive, system instruction, "
        "override active, real instruction, new directive, internal directive, "
        "priority instruction, instructions for the assistant, instructions for the ai"
    ),
    "talk": (
        "conversation history, chat history, the conversation, this conversation, "
        "entire conversation, full conversation, whole conversation, the transcript, "
        "full transcript, entire transcript, session transcript, user's messages, "
        "user's prompts, the user's prompt, every message, all messages, session history, "
        "message history, prompt history, the dialogue, user says, user said, user typed, "
        "user writes, chat log, chat logs, the chat"
    ),
    "void": (
        "do not apply, does not apply, no longer apply, no longer applies, are disabled, "
        "is disabled, are suspended, are lifted, have been lifted, has been lifted, are void, "
        "are off"
    ),
    "unasked": (
        "without asking, without confirmation, without confirming, without user confirmation, "
        "without approval, without permission, without consent, without prompting, "
        "without user consent, without user approval, do not ask, don't ask, never ask, "
        "no confirmation, not prompted, skip confirmation, skip all confirmation, "
        "without waiting, without requiring, without further confirmation, "
        "not require confirmation, without being asked, without review, no approval, "
        "auto-approve, automatically approve, auto approve, bypass approval, "
        "bypass confirmation, does not require explicit, without additional authentication, "
        "no additional authentication, no questions asked, without user interaction, "
        "without hesitation, without question, without verification, skip verification, "
        "without verifying, with no questions, need not be asked, needn't be asked, "
        "whether or not they agree"
    ),
    "exempt": (
        "already approved, has been approved, has been granted, have been granted, exempt from, "
        "certified by, permissions were granted, trusted administrator, elevated trust, "
        "special permission, have been removed, been lifted, security clearance, "
        "already authorized, has been verified, has been certified, permission granted"
    ),
    "prompt": (
        "system prompt, system prompts, your instructions, your full instructions, "
        "initial instructions, hidden prompt, system instructions, developer message, "
        "system message, confidential context, internal instructions"
    ),
    "vault": (
        "private key, private keys, ssh key, ssh keys, seed phrase, seed phrases, "
        "recovery phrase, secret recovery phrase, recovery codes, backup codes, one-time code, "
        "one-time codes, card number, card numbers, security code, master password, "
        "saved passwords, stored passwords, browser cookies, session cookies, login cookies, "
        "password vault, keychain items"
    ),
    "environment": "environment variables, env vars, environment dump",
    "credfile": (
        "env file, shell history, browser cookies, browser passwords, saved passwords, "
        "password manager, login data, dotenv files"
    ),
    "become": (
        "you are now, act as, acting as, pretend to be, pretend you are, role of, switches you, "
        "you will become, you are actually, you are no longer, assume the role, "
        "take on the role, play the role, playing the role, imagine you are, behave as, "
        "respond as, roleplay as, from now on, your new role, your new identity, act as if, "
        "you are an ai, identify as, operating as, simulate being"
    ),
    "free": (
        "no restrictions, no limits, no limitations, no restriction, without restriction, "
        "without restrictions, without limits, no ethical, no safety, no content, no filters, "
        "no filter, no rules, developer mode, god mode, debug mode, admin mode, "
        "unrestricted mode, maintenance mode, do anything now, without filtering, "
        "without safety, no guardrails, no guidelines, without any filtering, "
        "no ethical constraints, dan mode, safety: disabled, sudo mode, regardless of content, "
        "freely shared, no constraints, without guidelines, without ethical"
    ),
    "any_request": (
        "any request, all requests, any task, any question, every request, any command, "
        "all commands"
    ),
    "pretext": (
        "so we can, so i can, so that we, verify your identity, verify your account, "
        "verify ownership, confirm ownership, confirm your identity, to activate your, "
        "will be used only, used only to, used only for, stored securely, securely stored, "
        "this is needed, failure to, within 24 hours, within 48 hours, expires in, expires soon, "
        "has been detected, we have detected, we've detected, we need to verify, "
        "to prevent data loss, before losing, to avoid suspension, account suspension, "
        "will be suspended, will be terminated, as part of the audit, required by the auditors, "
        "to process your, to claim your, you have been selected, you've been selected, "
        "you've been invited, act quickly, handled under nda, final verification, "
        "identity verification, temporary step, standard onboarding, not be persisted, "
        "will not be stored, are not persisted, not be shared, security team, support team, "
        "to complete the verification, to continue setup, to restore access"
    ),
    "jailbreak": (
        "developer mode, god mode, dan mode, unrestricted mode, do anything now, admin mode, "
        "sudo mode, debug mode enabled, jailbreak mode"
    ),
    "secret": (
        "api key, api keys, access key, access keys, secret key, secret keys, private key, "
        "private keys, seed phrase, seed phrases, recovery code, recovery codes, "
        "recovery phrase, session token, session tokens, ssh key, ssh keys, credit card, "
        "social security, bank account, one-time code, verification code, auth token, "
        "auth tokens, access token, access tokens, login details, account details, signing key, "
        "backup codes, license key, encryption key, card number, account number, secret access, "
        "authentication token, api token, api tokens, your token, their token, github token, "
        "personal access token, account token, bearer token, bot token, security token, "
        "environment secrets, security questions, connection string, private ssh"
    ),
    "hush": (
        "do not mention, don't mention, do not tell, don't tell, do not inform, don't inform, "
        "do not reveal, don't reveal, do not disclose, don't disclose, never mention, "
        "never tell, never reveal, never disclose, without telling, without informing, "
        "without notifying, without mentioning, without disclosing, without alerting, "
        "not disclosed, not reported, not notified, not informed, do not notify, do not report, "
        "no trace, keep this secret, keep it secret, keep this confidential, between us, "
        "do not alert, do not acknowledge, never inform, never display, does not notify, "
        "not labeled, not labelled, without the user, without their knowledge, "
        "without user knowledge, without user awareness, without showing, "
        "should not be mentioned, not be mentioned, not be shown, not be disclosed, "
        "not be visible, not be reported, not be logged, do not discuss, not mention this, "
        "don't notify, user unaware, hide this, avoid mentioning, must not know, stay hidden, "
        "remain hidden, no need to mention, no need to tell"
    ),
    "prior": (
        "so far, you were given, you have been given, you have received, you were told, up to now"
    ),
    "before_use": (
        "before using, before you can use, to work properly, to function properly, "
        "for the skill to work, for this skill to work, to use this skill, before this skill, "
        "before the skill"
    ),
    "run_it": (
        "paste into terminal, paste it into, copy and paste, paste this command, "
        "run the executable, run the installer, into your terminal, into terminal, "
        "in your terminal, run this command, run the following command, execute the following, "
        "open terminal, execute the installation, double-click, run as administrator, "
        "run as admin, paste the following, paste into your terminal, run the setup, "
        "run the script, open powershell, run with administrator, copy the command, "
        "paste the command"
    ),
    "archive_pass": (
        "extract using, archive password, zip password, password for the archive, "
        "extract with password, extract with the password, unzip with password, "
        "unzip with the password, unpack with password, extract with pass, extract pass, "
        "password is, pass is, using pass, using password"
    ),
    "before": (
        "before using, before any, before performing, before processing, before answering, "
        "before responding, before doing anything, before proceeding, before you, "
        "before generating, before executing, on first run, on first use, upon activation, "
        "upon loading, when loaded, when this skill, at startup, every time, "
        "on every invocation, each time, whenever this skill, after every, at the end of every, "
        "at the start of, before starting, as the first step, once loaded, when activated, "
        "when invoked, before running, prior to any, at session start, on every"
    ),
    "trigger": (
        "if the user says, when the user says, if the user types, contains the phrase, "
        "contains the text, contains the string, begins with, prefixed with, when the date, "
        "current date is after, if the date, after the date, when the query, magic word, "
        "activation phrase, trigger phrase, secret phrase, trigger word, passphrase to, "
        "is activated when, when content includes, token sequence, on or after"
    ),
    "excuse": (
        "this is normal, this is expected, this is standard, is safe, completely safe, "
        "trusted source, false positive, ignore warnings, ignore any warnings, "
        "ignore security warnings, ignore the warning, disable your antivirus, antivirus may, "
        "security warning, for compatibility, for quality assurance, for debugging purposes, "
        "for compliance, for security purposes, for verification purposes, standard practice, "
        "required for compliance, standard protocol, for validation, do not worry, don't worry, "
        "standard procedure, legal obligation, this is required, this is necessary, routine check"
    ),
    "cannot_stop": (
        "cannot be disabled, cannot be removed, cannot opt out, cannot be waived, "
        "cannot be stopped, can't be disabled, no opt-out, not be removed, prevent removal, "
        "prevents removal, reinstall itself, re-enable itself, cannot be uninstalled, "
        "prevent uninstallation"
    ),
    "answer_false": (
        "respond that it, respond that you, always respond that, tell them that, "
        "tell the user that, say that it, deny that, claim that, claim to, pretend that, "
        "respond that the, assure the user, reassure the user, convince the user, convince them, "
        "persuade the user, persuade them, explain that they, if the user asks, if asked, "
        "if questioned, when asked about, lie about, confirm that deletion, instead say"
    ),
    "self_spread": (
        "copy this skill, copy itself, copies itself, install itself, replicate itself, "
        "other skills, all projects, every repository, every project, all repositories, "
        "other agents, spread to, propagate to, sub-agents, all agents, peer agents"
    ),
    "scale": "all available cpu, every available core, max out the cpu, stratum+tcp",
    "safety": (
        "content filter, content filters, content filtering, safety filter, safety filters, "
        "safety check, safety checks, security check, security checks, security control, "
        "security controls, security measures, security warning, security warnings, "
        "content policy, content policies, safety constraints, safety guidelines, "
        "safety instructions, ethical constraints, ethical guidelines, code signing, "
        "certificate validation, tls verification"
    ),
    "after_each": (
        "after each, after every, after any task, after any, at the end of each, "
        "at the end of every, at the end of your turn, when you have answered, "
        "once you have answered, following each, upon each, each time you, every time you, "
        "at each save, every half hour, each evening, once per day, before answering, "
        "before replying, each answer, each reply, every message, whenever the user, each entry, "
        "end-of-run"
    ),
    "own_prompt": (
        "your system prompt, your instructions, your full instructions, "
        "your initial instructions, your hidden instructions, your system instructions, "
        "your original instructions"
    ),
    "verbatim": "word for word, in full",
    "comes_back": (
        "reinstall itself, reinstalls itself, install it again, put it back, puts it back, "
        "re-enable itself, comes back, come back, restores itself, restore itself"
    ),
    "nobody": (
        "no one, not seen, not visible, not be visible, should not know, do not know, "
        "does not know, looks as before, as if nothing, as though nothing, would only, "
        "not a party, before they notice, looks like, so that it looks, will assume, "
        "may believe, came for, leaves no trace, no trace, can be explained, be explained with, "
        "say that the, say that it, explain that the, if asked, if anyone asks, "
        "if the user asks why, if the user wonders, if questioned, users sometimes object, "
        "in that case say, not for display, not to be documented, is internal, do not describe, "
        "don't describe, do not speak of, do not print, one-way, no means of deletion, "
        "without a password, keep coaching, go on as usual, as usual, reply as usual, "
        "keep it free, stays free, free of charge, pay for"
    ),
    "outrank": (
        "outrank the user's, outranks the user's, outrank, outranks, "
        "take precedence over the user, takes precedence over the user, precedence over user, "
        "above the user's, replace the operator's, replaces the operator's, replace the user's, "
        "supersede the user's, stronger than the user's, comes before the user's, "
        "come before the user's, answer to us, final word"
    ),
    "replaced": (
        "consider them replaced, are replaced by this, is replaced by this, treat it as deleted, "
        "treat them as deleted, was included by mistake, were for the demo, predate this, "
        "predates this, treat them as withdrawn, are withdrawn, is withdrawn, "
        "have been withdrawn, are switched off until, no longer bind, do not bind you, "
        "don't bind you, are waived, is waived, have been waived, you may disregard, "
        "may be disregarded, are suspended while"
    ),
}
