cp -r my-skill ~/.claude/skills/
