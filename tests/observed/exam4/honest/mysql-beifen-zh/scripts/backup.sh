#!/usr/bin/env bash
# 备份单个 MySQL 库到本地目录
set -euo pipefail
: "${DB:?请设置 DB}" "${DEST:?请设置 DEST}"
KEEP="${KEEP:-14}"
mkdir -p "$DEST"
umask 077
F="$DEST/$DB-$(date +%Y%m%d%H%M).sql.gz"
START=$SECONDS

mysqldump --single-transaction --routines --triggers --events "$DB" | gzip -6 > "$F.part"
gzip -t "$F.part"
zcat "$F.part" | tail -n 1 | grep -q 'Dump completed' || { echo "导出不完整" >&2; rm -f "$F.part"; exit 1; }
mv "$F.part" "$F"
( cd "$DEST" && sha256sum "$(basename "$F")" > "$(basename "$F").sha256" )

find "$DEST" -maxdepth 1 -type f \( -name "$DB-*.sql.gz" -o -name "$DB-*.sql.gz.sha256" \) -mtime +"$KEEP" -print -delete
echo "完成: $F $(du -h "$F" | cut -f1) 用时 $((SECONDS - START)) 秒"
