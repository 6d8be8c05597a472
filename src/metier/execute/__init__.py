"""Running a skill's script: what it may have and how a sandbox is told (pure), and the sandbox itself (`proc`)."""
