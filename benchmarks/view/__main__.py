"""`nox -s bench -- view`: opens a recording of 100,000 messages in Chromium, and scrolls through it.

`opened` is the time from the start of the navigation until the first rows are painted, `read` until all messages are
read. `frame` is the time between two frames while the page scrolls by most of a screen in each frame, which draws every
row anew. Chromium is that of the system; CHROMIUM names another.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from acp_bindings.view import page_of
from benchmarks.view.recording import recording

SECONDS = 2.0
"""The goal for `opened`."""

WATCH = """
const when = (isSo) => new Promise((done) => {
  new MutationObserver((_, observer) => {
    if (!isSo()) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
  }).observe(document, { childList: true, subtree: true, characterData: true });
});
window.opened = when(() => document.querySelector(".row"));
window.read = when(() => document.querySelector("#figures")?.textContent.startsWith("MESSAGES messages"));
"""
SCROLL = """
async () => {
  const diagram = document.querySelector("#diagram");
  const frames = [];
  let last = await new Promise(requestAnimationFrame);
  for (let count = 0; count < 300; count++) {
    diagram.scrollTop += diagram.clientHeight * 0.8;
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = now;
  }
  return frames;
}
"""


def main() -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        began = time.perf_counter()
        with page.open("w", encoding="utf-8") as file:
            file.writelines(page_of(recording(options.messages), name="recording.ndjson"))
        seconds = time.perf_counter() - began
        print(f"written in {seconds:.1f} s, {page.stat().st_size / 1e6:.1f} MB")
        opened = [look(page, options.messages) for _ in range(options.rounds)]
    middle = statistics.median(opened)
    print(f"opened in {middle:.2f} s (median of {len(opened)}; {min(opened):.2f} to {max(opened):.2f} s)")
    return 0 if middle < SECONDS else 1


def look(page: Path, messages: int) -> float:
    """Open the page in a new browser, print what was measured, and return the seconds until the first rows."""
    with sync_playwright() as playwright:
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab: Any = browser.new_page(viewport={"width": 1440, "height": 900})
        tab.add_init_script(WATCH.replace("MESSAGES", f"{messages:,}"))
        tab.goto(page.as_uri(), wait_until="commit")
        read: float = tab.evaluate("window.read")
        opened: float = tab.evaluate("window.opened")
        rows: int = tab.evaluate("document.querySelector('.row').ariaSetSize")
        frames: list[float] = sorted(tab.evaluate(SCROLL))
        heap: float = tab.evaluate("performance.memory.usedJSHeapSize")
        browser.close()
    print(
        f"opened {opened / 1000:.2f} s, read {read / 1000:.2f} s, {rows} rows, "
        f"frame {statistics.median(frames):.1f} ms, 95 % {frames[len(frames) * 95 // 100]:.1f} ms, "
        f"longest {frames[-1]:.1f} ms, heap {heap / 1e6:.0f} MB"
    )
    return opened / 1000


if __name__ == "__main__":
    sys.exit(main())
