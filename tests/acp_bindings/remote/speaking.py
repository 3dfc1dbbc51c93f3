"""The agent of most tests, over standard streams or HTTP: `python -m tests.acp_bindings.remote.speaking [PORT]`."""

from __future__ import annotations

import sys

import anyio

from acp_bindings.agent import Agent, Turn


def speaking() -> Agent:
    """Return an agent that says what it gets, counts, waits, and asks."""
    agent = Agent("remote", version="1.0")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        match turn.text.split():
            case ["count", number]:
                for each in range(int(number)):
                    await turn.say(f"{each} ")
            case ["slowly", number]:
                for each in range(int(number)):
                    await turn.say(f"{each} ")
                    await anyio.sleep(0.005)
            case ["wait"]:
                await turn.say("waiting")
                await anyio.sleep_forever()
            case ["ask"]:
                await turn.say("yes" if await turn.ask("May I?") else "no")
            case _:
                await turn.say(f"{len(turn.text)}: {turn.text[:20]}")

    return agent


if __name__ == "__main__":
    if sys.argv[1:]:
        speaking().asgi().run(port=int(sys.argv[1]), log_level="info")
    else:
        speaking().run()
