cat ~/.codex/auth.json
