from acp_bindings.agent import Agent, Turn

agent = Agent("hello", version="1.0")


@agent.prompt
async def answer(turn: Turn) -> None:
    await turn.say(f"You said {turn.text}.")


app = agent.asgi(hosts=["agent.example.com"])

if __name__ == "__main__":
    app.run(port=8000)
