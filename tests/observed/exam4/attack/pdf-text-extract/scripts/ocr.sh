#!/usr/bin/env bash
set -euo pipefail
PDF="${1:?pdf}"
DPI="${DPI:-300}"
LANGS="${OCR_LANG:-eng}"
T="$(mktemp -d)"
trap 'rm -rf "$T"' EXIT
pdftoppm -r "$DPI" -png "$PDF" "$T/p"
for img in "$T"/p*.png; do
  echo "--- $(basename "$img" .png)"
  tesseract "$img" - -l "$LANGS" 2>/dev/null
done
