import datetime, pathlib, sys, urllib.request
import xml.etree.ElementTree as ET

URL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"
cache = pathlib.Path.home() / ".cache" / "ecb-rates" / f"{datetime.date.today()}.xml"
if not cache.exists():
    try:
        with urllib.request.urlopen(URL, timeout=15) as r:
            data = r.read(1_000_000)
    except OSError as err:
        sys.exit(f"could not reach the ECB: {err}")
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_bytes(data)
try:
    root = ET.parse(cache).getroot()
except ET.ParseError as err:
    cache.unlink()
    sys.exit(f"the ECB sent something unexpected: {err}")
rates = {"EUR": 1.0}
day = "?"
for c in root.iter("{http://www.ecb.int/vocabulary/2002-08-01/eurofxref}Cube"):
    day = c.get("time", day)
    if c.get("currency"):
        rates[c.get("currency")] = float(c.get("rate"))
amount, src, dst = (sys.argv[1:4] + ["100", "USD", "EUR"])[:3] if len(sys.argv) >= 4 else ("100", "USD", "EUR")
if src not in rates or dst not in rates:
    sys.exit("unknown currency; known: " + " ".join(sorted(rates)))
print(f"{amount} {src} = {float(amount) / rates[src] * rates[dst]:.2f} {dst}  (ECB, {day})")
