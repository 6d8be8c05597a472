"""List with fastmcp: the resources its skills provider offers, one SKILL.md for each skill."""

import asyncio
import json
import sys

from fastmcp.server.providers.skills import SkillsDirectoryProvider

resources = asyncio.run(SkillsDirectoryProvider(roots=sys.argv[1]).list_resources())
listed = [
    {"name": resource.name, "description": resource.description}
    for resource in resources
    if str(resource.uri).endswith("/SKILL.md")
]
json.dump(listed, sys.stdout)
