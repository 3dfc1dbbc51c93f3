from acp_bindings.agent import Agent, Turn

agent = Agent("hello", version="1.0")


@agent.prompt
async def answer(turn: Turn) -> None:
    await turn.say(f"You said {turn.text}.")


if __name__ == "__main__":
    agent.run()
