"""Lines of several threads are not mixed."""

from __future__ import annotations

import subprocess
import sys

WRITE = """
import sys, threading
from mcp_launch._command.show.text import remark
sys.setswitchinterval(1e-6)
def tell(number):
    for _ in range(500):
        remark((f"server-{number} !!", ""), "a line")
threads = [threading.Thread(target=tell, args=(number,)) for number in range(4)]
for each in threads: each.start()
for each in threads: each.join()
"""


def test_lines_of_several_threads_stay_whole() -> None:
    done = subprocess.run([sys.executable, "-c", WRITE], capture_output=True, text=True, check=True, timeout=60)
    lines = done.stderr.splitlines()
    assert sorted(lines) == sorted(f"server-{number} !! a line" for number in range(4) for _ in range(500))
