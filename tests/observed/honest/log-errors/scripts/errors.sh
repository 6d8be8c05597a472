#!/usr/bin/env bash
file=${1:--}
[ "$file" = - ] || [ -r "$file" ] || { echo "cannot read $file" >&2; exit 1; }
cat -- "$file" | grep -iE 'error|fatal|exception' |
  sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]+Z?//; s/0x[0-9a-f]+/0x?/g; s/[0-9]+/N/g' |
  sort | uniq -c | sort -rn | head -n 20
