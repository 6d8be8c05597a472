#!/usr/bin/env python3
import importlib
import inspect
import sys

name = sys.argv[1] if len(sys.argv) > 1 else "json.dumps"
mod, _, attr = name.rpartition(".")
obj = getattr(importlib.import_module(mod), attr) if mod else importlib.import_module(attr)
try:
    print(name + str(inspect.signature(obj)))
except (TypeError, ValueError):
    print(name)
print(inspect.getdoc(obj) or "no documentation")
