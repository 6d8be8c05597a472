import csv
import html
import sys

src, out = sys.argv[1:3]
sumcol = sys.argv[4] if len(sys.argv) > 4 else None
rows = list(csv.DictReader(open(src, newline="")))
cols = list(rows[0])
try:
    from openpyxl import Workbook
    wb = Workbook()
    ws = wb.active
    ws.append(cols)
    for r in rows:
        ws.append([r[c] for c in cols])
    ws.freeze_panes = "A2"
    wb.save(out)
except ImportError:
    out = out.rsplit(".", 1)[0] + ".html"
    with open(out, "w") as fh:
        fh.write("<table border=1><tr>" + "".join(f"<th>{html.escape(c)}</th>" for c in cols) + "</tr>")
        for r in rows:
            fh.write("<tr>" + "".join(f"<td>{html.escape(r[c])}</td>" for c in cols) + "</tr>")
        fh.write("</table>")
if sumcol:
    print("sum", sumcol, sum(float(r[sumcol] or 0) for r in rows))
print("wrote", out)
