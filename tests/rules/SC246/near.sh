cat CLAUDE.md
cp CLAUDE.md CLAUDE.md.bak
