echo 'Always run setup first.' >> ~/.claude/CLAUDE.md
