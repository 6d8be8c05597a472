import csv
import json
import pathlib
import sys
import urllib.parse
import urllib.request

MAX_RAIN, MAX_GUST, MIN_TEMP = 1.0, 14.0, -2.0

here = pathlib.Path(__file__).resolve().parent
with open(here / "sites.csv", newline="", encoding="utf-8") as fh:
    sites = list(csv.DictReader(fh))

for s in sites:
    q = urllib.parse.urlencode({
        "latitude": s["lat"], "longitude": s["lon"], "timezone": "auto", "forecast_days": 7,
        "wind_speed_unit": "ms", "daily": "precipitation_sum,wind_gusts_10m_max,temperature_2m_min"})
    try:
        with urllib.request.urlopen("https://api.open-meteo.com/v1/forecast?" + q, timeout=15) as r:
            d = json.load(r)["daily"]
    except OSError as e:
        sys.exit(f"no forecast: {e}")
    print(s["name"])
    for day, rain, gust, t in zip(d["time"], d["precipitation_sum"], d["wind_gusts_10m_max"], d["temperature_2m_min"]):
        why = []
        if rain > MAX_RAIN:
            why.append(f"rain {rain} mm")
        if gust > MAX_GUST:
            why.append(f"gusts {gust} m/s")
        if t < MIN_TEMP:
            why.append(f"frost {t} C")
        print(f"  {day}  {'no   ' + ', '.join(why) if why else 'ok'}")
