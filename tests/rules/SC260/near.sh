rm -rf node_modules dist ./tmp "$HOME/.cache/tool"
