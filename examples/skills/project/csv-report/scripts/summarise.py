"""Print rows, empty cells, smallest and largest value of each column of a CSV file."""

import csv
import sys


def main(path: str) -> None:
    """Summarise one file."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    print(f"{len(rows)} rows")
    for column in rows[0] if rows else ():
        cells = [row[column] or "" for row in rows]
        full = [cell for cell in cells if cell]
        print(f"{column}: {len(cells) - len(full)} empty, from {min(full, default='-')} to {max(full, default='-')}")


if __name__ == "__main__":
    main(sys.argv[1])
