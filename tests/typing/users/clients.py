"""A client: its session, the updates of a turn, state and handlers have types without type arguments."""

from typing import assert_type

from acp_bindings import v1
from acp_bindings.client import (
    Allow,
    Client,
    ConnectedAgent,
    Files,
    Message,
    PermissionPolicy,
    PermissionQuestion,
    PromptTurn,
    Session,
    SessionState,
    Terminals,
)


async def ask_the_user(question: PermissionQuestion) -> bool:
    return question.kind == "read"


def choose(question: PermissionQuestion) -> v1.PermissionOption | None:
    return question.option("allow_once")


def fill_in(request: v1.CreateElicitationRequest) -> dict[str, str]:
    return {"name": request.message}


async def talk(servers: list[v1.McpServer]) -> None:
    client = Client("editor", version="1.0", permission=ask_the_user, files=Files(), terminals=Terminals())
    Client("editor", version="1.0", permission=choose, elicitation=fill_in)
    Client("nightly", version="1.0", permission=PermissionPolicy(Allow(kind={"read"}, path="/home/me/project")))
    async with client.connect(["my-agent", "--acp"]) as agent:
        assert_type(agent, ConnectedAgent)
        async with agent.session(cwd="/home/me/project", mcp_servers=servers) as session:
            assert_type(session, Session)
            turn = session.prompt("What does this do?")
            assert_type(turn, PromptTurn)
            async for update in turn:
                print(update)
                if isinstance(update, v1.AgentMessageChunk):
                    assert_type(update.content, v1.ContentBlock)
                    print(update.contents)  # refused
            assert_type(await session.prompt([v1.TextContent(text="And this?")]), str)
            assert_type(session.state, SessionState)
            assert_type(session.state.messages, tuple[Message, ...])
            print(session.state.messages[-1].text, session.state.stop_reason)
            session.state.title = "mine"  # refused
            await session.prompt(1)  # refused
        async with agent.load("sess_1", cwd="/home/me/project") as loaded:
            assert_type(loaded, Session)
        assert_type(await agent.list(), tuple[v1.SessionInfo, ...])
        assert_type(await agent.ask(v1.LogoutRequest()), v1.LogoutResponse)
        agent.session("/home/me/project")  # refused
    Client("editor")  # refused
