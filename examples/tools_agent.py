import mcp_launch
from acp_bindings.agent import Agent, FolderSessions, Turn

agent = Agent("tools", version="1.0", mcp=mcp_launch.for_sessions(), sessions=FolderSessions("~/.tools-agent"))


@agent.prompt
async def answer(turn: Turn[mcp_launch.Fleet]) -> None:
    mcp = turn.session.mcp
    if turn.text == "tools":
        for entry in mcp.catalogue:
            await turn.say(f"{entry.name}: {entry.tool.description}\n")
        return
    name, *words = turn.text.split()
    async with turn.tool_call(turn.text, name=name) as call:
        call.result(await mcp.call_tool(name, dict(word.split("=", 1) for word in words)))
    if call.has_failed or not await turn.ask("Write notes.txt?"):
        return
    await turn.write_file("notes.txt", call.output)


if __name__ == "__main__":
    agent.run()
