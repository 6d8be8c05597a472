"""List with skillport: the function behind `skillport list`, whose command stops at 1,000 rows."""

import json
import sys
from pathlib import Path

from skillport.interfaces.cli.catalog import list_skills_fs
from skillport.shared.config import Config

result = list_skills_fs(config=Config(skills_dir=Path(sys.argv[1])), limit=10_000_000)
json.dump(
    [{"name": skill.name, "description": skill.description} for skill in result.skills], sys.stdout
)
