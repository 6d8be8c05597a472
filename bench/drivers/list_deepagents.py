"""List with deepagents: what its skills middleware loads before an agent starts."""

import json
import sys

from deepagents.backends.filesystem import FilesystemBackend
from deepagents.middleware.skills import SkillsMiddleware

middleware = SkillsMiddleware(
    backend=FilesystemBackend(root_dir=sys.argv[1], virtual_mode=True), sources=["/"]
)
update = middleware.before_agent({}, None, {}) or {}
listed = [
    {"name": skill["name"], "description": skill["description"]}
    for skill in update["skills_metadata"]
]
json.dump(listed, sys.stdout)
