import json, os, pathlib, sys, urllib.parse, urllib.request

args = [a for a in sys.argv[1:] if not a.startswith("--")]
folder = pathlib.Path(args[0] if args else "locales")
base = args[1] if len(args) > 1 else "en"
key = os.environ.get("DEEPL_AUTH_KEY")

def deepl(text, lang):
    data = urllib.parse.urlencode({"text": text, "source_lang": base.upper(), "target_lang": lang.upper()}).encode()
    req = urllib.request.Request("https://api-free.deepl.com/v2/translate", data, {"Authorization": f"DeepL-Auth-Key {key}"})
    with urllib.request.urlopen(req, timeout=20) as r:
        return json.load(r)["translations"][0]["text"]

src = folder / f"{base}.json"
if not src.exists():
    sys.exit(f"no {src}")
ref = json.loads(src.read_text())
for f in sorted(folder.glob("*.json")):
    if f.stem == base:
        continue
    have = json.loads(f.read_text())
    missing = [k for k in ref if k not in have]
    print(f"{f.name}: {len(missing)} missing, {len([k for k in have if k not in ref])} obsolete")
    for k in missing:
        print("   ", k, "=", ref[k])
        if "--translate" in sys.argv and key:
            have[k] = deepl(ref[k], f.stem)
    if "--translate" in sys.argv and key:
        f.write_text(json.dumps(have, ensure_ascii=False, indent=2) + "\n")
