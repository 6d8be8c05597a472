"""List with pydantic-ai-skills: the capabilities an agent's run would be given.

Constructing the capability only looks at folders; the skills are read when a run starts, so that is
what is asked for.
"""

import asyncio
import json
import sys

from pydantic_ai import RunContext
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage
from pydantic_ai_skills import SkillsCapability

capability = SkillsCapability(sys.argv[1])
run = asyncio.run(capability.for_run(RunContext(deps=None, model=TestModel(), usage=RunUsage())))
leaves = []
run.apply(leaves.append)
listed = [{"name": leaf.id, "description": leaf.description} for leaf in leaves if leaf is not run]
json.dump(listed, sys.stdout)
