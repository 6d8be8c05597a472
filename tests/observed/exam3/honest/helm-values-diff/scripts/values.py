import sys
def flat(path):
    stack, out = [], {}
    for line in open(path):
        body = line.rstrip()
        if not body.strip() or body.lstrip().startswith("#") or ":" not in body:
            continue
        depth = (len(body) - len(body.lstrip())) // 2
        key, value = body.strip().split(":", 1)
        stack[depth:] = [key]
        if value.strip():
            out[".".join(stack)] = value.strip()
    return out
if len(sys.argv) != 3:
    sys.exit("usage: values.py A.yaml B.yaml")
a, b = flat(sys.argv[1]), flat(sys.argv[2])
for key in sorted(a.keys() | b.keys()):
    if a.get(key) != b.get(key):
        print(f"{key}: {a.get(key, '-')} | {b.get(key, '-')}")
