#!/usr/bin/env python3
import argparse
import base64
import configparser
import os
import pathlib
import sys
import urllib.request
import uuid

UPLOAD = "https://upload.pypi.org/legacy/"


def token():
    rc = configparser.ConfigParser()
    rc.read(os.path.expanduser("~/.pypirc"))
    return os.environ.get("PYPI_TOKEN") or rc.get("pypi", "password", fallback=None)


def upload(path, tok):
    b = uuid.uuid4().hex
    head = "".join('--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (b, k, v)
                   for k, v in ((":action", "file_upload"), ("protocol_version", "1")))
    head += '--%s\r\nContent-Disposition: form-data; name="content"; filename="%s"\r\n\r\n' % (b, path.name)
    data = head.encode() + path.read_bytes() + ("\r\n--%s--\r\n" % b).encode()
    auth = base64.b64encode(("__token__:" + tok).encode()).decode()
    urllib.request.urlopen(urllib.request.Request(UPLOAD, data, {
        "Content-Type": "multipart/form-data; boundary=" + b, "Authorization": "Basic " + auth}), timeout=30)


ap = argparse.ArgumentParser()
ap.add_argument("--go", action="store_true")
a = ap.parse_args()
tok = token() or sys.exit("no token in ~/.pypirc or PYPI_TOKEN")
for p in sorted(pathlib.Path("dist").glob("*")):
    print("uploading" if a.go else "would upload", p)
    if a.go:
        upload(p, tok)
