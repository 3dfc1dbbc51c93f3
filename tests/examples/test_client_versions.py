"""What the example client does about an agent that speaks none of its versions."""

import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).resolve().parents[2] / "examples" / "client.py"
AGENT = """
import json, pathlib, sys
request = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"protocolVersion": 7}}), flush=True)
pathlib.Path(sys.argv[1]).write_text(sys.stdin.read() or "closed")
"""


def test_r23_the_client_closes_the_connection_and_tells_its_user_which_versions_there_were(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    command = [sys.executable, str(CLIENT), "--cwd", str(tmp_path), "--", sys.executable, "-c", AGENT, str(heard)]

    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("the agent answered with ACP version 7; we asked for 2 and have 1, 2")
    assert heard.read_text() == "closed"
