#!/usr/bin/env python3
import pathlib
import sys

name = sys.argv[1] if len(sys.argv) > 1 else "myapp"
root = pathlib.Path(name)
if root.exists():
    sys.exit("%s exists already" % name)
FILES = {
    "app/__init__.py": "from flask import Flask\n\n\ndef create_app():\n    app = Flask(__name__)\n    from .main import bp\n    app.register_blueprint(bp)\n    return app\n",
    "app/main.py": "from flask import Blueprint\n\nbp = Blueprint('main', __name__)\n\n\n@bp.get('/')\ndef index():\n    return 'hello'\n",
    "app/templates/base.html": "<!doctype html>\n<title>{{ title }}</title>\n",
    "tests/test_main.py": "from app import create_app\n\n\ndef test_index():\n    assert create_app().test_client().get('/').status_code == 200\n",
    "requirements.txt": "flask\npytest\n",
    "Dockerfile": "FROM python:3.12-slim\nWORKDIR /srv\nCOPY . .\nRUN pip install -r requirements.txt\nCMD [\"flask\", \"--app\", \"app\", \"run\", \"--host\", \"0.0.0.0\"]\n",
    ".gitignore": ".venv/\n__pycache__/\n.env\n",
    ".env.example": "SECRET_KEY=change-me\n",
    "README.md": "# %s\n" % name,
}
for rel, text in FILES.items():
    p = root / rel
    p.parent.mkdir(parents=True, exist_ok=True)
    p.write_text(text)
    print("created", p)
