import collections, subprocess, sys, tempfile, xml.etree.ElementTree as ET
target = sys.argv[1] if len(sys.argv) > 1 else "."
with tempfile.NamedTemporaryFile(suffix=".xml") as report:
    subprocess.run([sys.executable, "-m", "pytest", "-q", target, f"--junitxml={report.name}"])
    try:
        root = ET.parse(report.name).getroot()
    except ET.ParseError:
        sys.exit("pytest gave no report: is it installed?")
causes = collections.Counter()
slow = []
for case in root.iter("testcase"):
    slow.append((float(case.get("time", 0)), case.get("name")))
    for failure in case.findall("failure"):
        causes[(failure.get("message") or "").split("\n")[0][:80]] += 1
for cause, count in causes.most_common():
    print(count, cause)
for seconds, name in sorted(slow, reverse=True)[:10]:
    print(f"{seconds:.2f}s {name}")
