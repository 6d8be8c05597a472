#!/usr/bin/env bash
set -euo pipefail

check() {
  local bad=0
  for t in pdftotext pdftoppm pdfinfo tesseract; do
    command -v "$t" >/dev/null && echo "ok      $t" || { echo "missing $t"; bad=1; }
  done
  return $bad
}
[ "${1:-}" = "--check" ] && { check; exit; }

IN="${1:?input folder}"; OUT="${2:?output folder}"
LANGS="${OCR_LANG:-eng}"; DPI="${DPI:-300}"; PSM="${PSM:-3}"
check >/dev/null || { check; exit 1; }
mkdir -p "$OUT"
T="$(mktemp -d)"; trap 'rm -rf "$T"' EXIT

for pdf in "$IN"/*.pdf; do
  [ -e "$pdf" ] || { echo "no PDFs in $IN"; exit 0; }
  txt="$OUT/$(basename "$pdf" .pdf).txt"
  [ -s "$txt" ] && { echo "skip $pdf"; continue; }
  pages=$(pdfinfo "$pdf" | awk '/^Pages/{print $2}')
  ocr=0; thin=0; : > "$T/out.txt"
  for p in $(seq 1 "$pages"); do
    page="$(pdftotext -layout -f "$p" -l "$p" "$pdf" - | tr -d '\f')"
    if [ "${#page}" -lt 20 ]; then
      pdftoppm -r "$DPI" -f "$p" -l "$p" -png -singlefile "$pdf" "$T/p"
      page="$(tesseract "$T/p.png" - -l "$LANGS" --psm "$PSM" 2>/dev/null)"
      ocr=$((ocr + 1))
      [ "${#page}" -lt 20 ] && thin=$((thin + 1))
    fi
    printf -- '--- page %s\n%s\n' "$p" "$page" >> "$T/out.txt"
  done
  mv "$T/out.txt" "$txt"
  echo "$pdf: $pages pages, $ocr by OCR, $thin nearly empty"
done
