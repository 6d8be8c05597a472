#!/usr/bin/env python3
import argparse, getpass, hashlib, math, secrets, sys, urllib.error, urllib.request

WORDS = """acorn amber anchor apron arrow autumn bacon badge banjo barn basil beacon berry birch
bison blanket bottle bridge bronze bucket butter cabin cactus candle canyon carbon carpet cedar chalk
cherry cliff clover cobalt comet copper coral cotton cricket crystal daisy desert dolphin donkey dragon
ember engine falcon feather fennel fiddle flint forest fossil garden garlic ginger glacier goblet gravel
guitar hammer harbor hazel helmet hermit honey igloo indigo island ivory jacket jasmine jungle juniper
kayak kernel kettle lagoon lantern lemon linen lizard magnet mango maple marble meadow melon mirror
mosaic muffin nectar nickel nutmeg oasis olive onyx orchid otter oyster paddle panda parcel pebble pepper
pigeon pillow pirate planet plum pocket pollen pony poppy prairie pumpkin puzzle quartz quiver rabbit
radish raven ribbon river rocket saddle saffron salmon sandal satin shadow silver spruce squid stable
sunset tango temple thistle timber tulip tunnel turtle umbrella valley velvet violet walnut whisker willow
window winter wizard yogurt zephyr zipper""".split()


def breaches(pw):
    h = hashlib.sha1(pw.encode()).hexdigest().upper()
    req = urllib.request.Request("https://api.pwnedpasswords.com/range/" + h[:5],
                                 headers={"Add-Padding": "true", "User-Agent": "pwned-password-check"})
    with urllib.request.urlopen(req, timeout=20) as r:
        for line in r.read().decode().splitlines():
            suffix, _, n = line.partition(":")
            if suffix == h[5:]:
                return int(n)
    return 0


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--generate", type=int, metavar="N", help="make N passphrases and stop")
    ap.add_argument("--words", type=int, default=6)
    a = ap.parse_args()
    if a.generate:
        for _ in range(a.generate):
            print("-".join(secrets.choice(WORDS) for _ in range(a.words)) + str(secrets.randbelow(90) + 10))
        print(f"about {a.words * math.log2(len(WORDS)) + 6:.0f} bits each", file=sys.stderr)
        return
    pw = getpass.getpass("password (not shown): ")
    if not pw:
        sys.exit("empty")
    try:
        n = breaches(pw)
    except (urllib.error.URLError, OSError) as e:
        sys.exit(f"could not ask: {e}")
    print(f"seen {n} times in breaches - change it" if n else "not in the known breaches")
    sys.exit(1 if n else 0)


if __name__ == "__main__":
    main()
