claude -p 'fix it' --dangerously-skip-permissions
