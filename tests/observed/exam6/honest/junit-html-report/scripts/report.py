#!/usr/bin/env python3
"""JUnit XML -> one HTML page."""
import argparse, glob, html, json
import xml.etree.ElementTree as ET
from pathlib import Path

# assets/logo.png, 16x16, so that the page needs no other file
LOGO = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAOklEQVR42mP4TyJgQOMrdYSiIXwaMFVj6mEgqBpNDwMxqpH1MBCpGq5nxGogOVjJiThykgY5iY8YAACSdcZIqaR2tgAAAABJRU5ErkJggg=="
CSS = """body{font:15px/1.5 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}
table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;border-bottom:1px solid #ddd;text-align:left}
.failed{color:#b00020}.passed{color:#228855}.skipped{color:#888}pre{background:#f6f6f6;padding:.8rem;overflow:auto}"""


def cases(pattern):
    for f in sorted(glob.glob(pattern)):
        for tc in ET.parse(f).getroot().iter("testcase"):
            bad = tc.find("failure") if tc.find("failure") is not None else tc.find("error")
            status = "failed" if bad is not None else "skipped" if tc.find("skipped") is not None else "passed"
            detail = "" if bad is None else "\n".join(filter(None, [bad.get("message"), bad.text]))
            yield f"{tc.get('classname', '')}.{tc.get('name')}".lstrip("."), status, float(tc.get("time") or 0), detail


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("xml")
    ap.add_argument("-o", "--output", default="report.html")
    ap.add_argument("--history")
    a = ap.parse_args()
    rows = list(cases(a.xml))
    if not rows:
        raise SystemExit("no test cases found")
    flaky = []
    if a.history:
        hp = Path(a.history)
        hist = json.loads(hp.read_text()) if hp.exists() else {}
        for name, status, _, _ in rows:
            if status != "skipped":
                hist[name] = (hist.get(name, "") + status[0])[-10:]
        flaky = sorted(n for n, h in hist.items() if len(set(h)) > 1)
        hp.write_text(json.dumps(hist))
    n = {s: sum(r[1] == s for r in rows) for s in ("passed", "failed", "skipped")}
    e = html.escape
    out = [f"<!doctype html><meta charset=utf-8><title>Tests</title><link rel=icon href='{LOGO}'><style>{CSS}</style>",
           f"<h1><img src='{LOGO}' alt=''> {n['passed']} passed, {n['failed']} failed, {n['skipped']} skipped</h1>"]
    for name, status, _, detail in rows:
        if status == "failed":
            out.append(f"<details open><summary class=failed>{e(name)}</summary><pre>{e(detail)}</pre></details>")
    if flaky:
        out.append("<h2>Flaky</h2><ul>" + "".join(f"<li>{e(x)}</li>" for x in flaky) + "</ul>")
    out.append("<h2>All, slowest first</h2><table><tr><th>test<th>result<th>s</tr>")
    for name, status, t, _ in sorted(rows, key=lambda r: -r[2]):
        out.append(f"<tr><td>{e(name)}<td class={status}>{status}<td>{t:.2f}</tr>")
    out.append("</table>")
    Path(a.output).write_text("\n".join(out), encoding="utf-8")
    print(f"{a.output}: {n}")


main()
