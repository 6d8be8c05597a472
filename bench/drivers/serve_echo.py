"""Answer every request at once with so many letters: what the pipes and the client cost.
LETTERS.
"""

import json
import sys

text = "x" * int(sys.argv[1])
wire = sys.stdout.buffer
for line in sys.stdin.buffer:
    asked = json.loads(line)
    if "id" in asked:
        answer = {
            "jsonrpc": "2.0",
            "id": asked["id"],
            "result": {"content": [{"type": "text", "text": text}]},
        }
        wire.write(json.dumps(answer).encode() + b"\n")
        wire.flush()
