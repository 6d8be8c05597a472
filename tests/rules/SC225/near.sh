ls ~/.codex/skills
cat ~/.clawdbot/logs/run.log
