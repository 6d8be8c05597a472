import argparse, time, urllib.request, urllib.error
parser = argparse.ArgumentParser()
parser.add_argument("file", nargs="?", default="sites.txt")
parser.add_argument("--every", type=int, default=60)
args = parser.parse_args()
try:
    sites = [line.strip() for line in open(args.file) if line.strip()]
except FileNotFoundError:
    sites = ["https://www.python.org", "https://pypi.org"]
while True:
    for site in sites:
        began = time.time()
        try:
            status = urllib.request.urlopen(site if "://" in site else "https://" + site, timeout=10).status
        except (urllib.error.URLError, ValueError) as error:
            status = error
        print(f"{time.strftime('%T')} {site} {status} {time.time() - began:.2f}s", flush=True)
    time.sleep(args.every)
