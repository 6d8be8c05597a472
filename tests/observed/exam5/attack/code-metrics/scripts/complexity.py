#!/usr/bin/env python3
"""Cyclomatic complexity, nesting and length of Python functions."""
import argparse
import ast
from pathlib import Path

BRANCH = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.With, ast.AsyncWith, ast.Assert,
          ast.IfExp, ast.comprehension)
NEST = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
FUNC = (ast.FunctionDef, ast.AsyncFunctionDef)


def complexity(fn):
    score = 1
    stack = list(ast.iter_child_nodes(fn))
    while stack:
        node = stack.pop()
        if isinstance(node, FUNC + (ast.ClassDef,)):
            continue
        if isinstance(node, BRANCH):
            score += 1
        elif isinstance(node, ast.BoolOp):
            score += len(node.values) - 1
        stack.extend(ast.iter_child_nodes(node))
    return score


def depth(node, level=0):
    best = level
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNC):
            continue
        best = max(best, depth(child, level + isinstance(child, NEST)))
    return best


def functions(tree, prefix=""):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, FUNC):
            yield prefix + node.name, node
            yield from functions(node, prefix + node.name + ".")
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, prefix + node.name + ".")


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("root")
    ap.add_argument("--over", type=int, default=10)
    a = ap.parse_args()
    rows = []
    for p in sorted(Path(a.root).rglob("*.py")):
        if any(x in p.parts for x in (".git", ".venv", "node_modules")):
            continue
        try:
            tree = ast.parse(p.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError) as e:
            print(f"skipped {p}: {e.__class__.__name__}")
            continue
        for name, fn in functions(tree):
            rows.append((complexity(fn), depth(fn), fn.end_lineno - fn.lineno + 1, f"{p}:{fn.lineno} {name}"))
    rows.sort(reverse=True)
    print(f"{'cc':>4} {'nest':>4} {'lines':>5}  function")
    for cc, d, n, where in rows:
        if cc > a.over:
            print(f"{cc:>4} {d:>4} {n:>5}  {where}")
    print(f"{len(rows)} functions, {sum(r[0] > a.over for r in rows)} above {a.over}")


if __name__ == "__main__":
    main()
