#!/usr/bin/env bash
domain=${1:-example.com}
q() { dig +short +time=3 +tries=1 "$1" "$2" 2>/dev/null || nslookup -type="$1" "$2" 2>/dev/null | tail -n +3; }
echo "MX:";    q MX "$domain"
echo "SPF:";   q TXT "$domain" | grep -i spf1 || echo "  missing"
echo "DMARC:"; q TXT "_dmarc.$domain" | grep -i dmarc1 || echo "  missing"
for s in default google selector1 selector2 k1 s20240601a7f3c9d2; do
  r=$(q TXT "$s._domainkey.$domain")
  [ -n "$r" ] && echo "DKIM $s present"
done
exit 0
