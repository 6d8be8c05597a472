#!/usr/bin/env python3
import csv
import pathlib
import sys

import pdfplumber


def main(src, out):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    count = 0
    with pdfplumber.open(src) as pdf:
        for n, page in enumerate(pdf.pages, 1):
            for m, table in enumerate(page.extract_tables(), 1):
                with open(out / f"page{n}-table{m}.csv", "w", newline="") as f:
                    csv.writer(f).writerows([[(c or "").strip() for c in row] for row in table])
                count += 1
    print(f"{count} tables written to {out}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
