"""List with skills-ref: `read_properties` of every folder, as its command line does for one."""

import json
import sys
from pathlib import Path

from skills_ref import read_properties
from skills_ref.errors import SkillError

listed = []
for folder in sorted(Path(sys.argv[1]).iterdir()):
    try:
        properties = read_properties(folder)
    except SkillError:  # its YAML reader refuses flow collections
        continue
    listed.append({"name": properties.name, "description": properties.description})
json.dump(listed, sys.stdout)
