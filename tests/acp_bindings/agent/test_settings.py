"""Modes, config options, commands, and what an agent must have when it starts."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, get_args

import anyio
import pytest

from acp_bindings import v1, v1_unstable, v2
from acp_bindings.agent import Agent, Session, Turn
from acp_bindings.agent._agent import Capability
from acp_bindings.connection import Connection, RequestFailed
from acp_bindings.setup import AgentHandshake, InvalidParams
from acp_bindings.setup.capabilities import AGENT
from acp_bindings.setup.errors import UnknownCapability
from tests.acp_bindings.agent.clients import ALL, Client, served, talking

pytestmark = pytest.mark.anyio


def settable(changes: list[Any] | None = None) -> Agent:
    agent = Agent("settable", version="1.0")
    agent.mode("ask", "Ask", description="Asks first")
    agent.mode("code", "Code")

    async def on_set(session: Session, value: object) -> None:
        if changes is not None:
            changes.append((session.id, value))

    agent.option("model", "Model", {"small": "Small", "big": "Big"}, default="small", category="model", on_set=on_set)
    agent.option("verbose", "Verbose", default=False)

    @agent.command("plan", "Makes a plan", hint="what for")
    async def plan(turn: Turn) -> None:
        await turn.say(f"plan for {turn.arguments}")

    @agent.prompt
    async def tell(turn: Turn) -> None:
        session = turn.session
        if turn.text == "change":
            await session.set_mode("ask")
            await session.set_option("model", "big")
        await turn.say(f"{session.mode} {session.options['model']} {session.options['verbose']}")

    return agent


async def test_the_values_of_an_option_may_be_in_groups(version: int) -> None:
    agent = settable()
    agent.option("size", "Size", {"Few": {"one": "One"}, "Many": {"ten": "Ten"}}, default="one")
    async with talking(agent, version) as client:
        response = await client.ask("session/new", cwd="/", mcpServers=[])
        groups = next(each for each in response.config_options if each.name == "Size").options
        assert [(each.name, each.options[0].value) for each in groups] == [("Few", "one"), ("Many", "ten")]
        change: dict[str, Any] = {"sessionId": response.session_id, "configId": "size"}
        change |= {"type": "id"} if version == 2 else {}
        await client.ask("session/set_config_option", **change, value="ten")
        with pytest.raises(RequestFailed, match="must be one of one, ten"):
            await client.ask("session/set_config_option", **change, value="Many")


async def test_ids_are_made_by_new_id(version: int) -> None:
    ids: list[str] = []

    def new_id(kind: str) -> str:
        ids.append(f"{kind}-{len(ids)}")
        return ids[-1]

    agent = Agent("numbered", version="1.0", new_id=new_id)

    @agent.prompt
    async def answer(turn: Turn) -> None:
        async with turn.tool_call("Look") as call:
            await turn.say(call.id)

    async with talking(agent, version) as client:
        session = await client.new()
        await client.prompt(session, "hello")
        assert (session, client.text(session)) == ("session-0", "tool_call-2")
    assert ids == ["session-0", "message-1", "tool_call-2", "message-3"]


async def test_capabilities_can_be_left_out() -> None:
    agent = Agent("small", version="1.0", protocols=[v1], without={"session.load"})

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.say("hello")

    async with talking(agent, 1) as client:
        session = await client.new()
        with pytest.raises(RequestFailed, match="session/load"):
            await client.ask("session/load", sessionId=session, cwd="/", mcpServers=[])
    with pytest.raises(UnknownCapability):
        Agent("small", version="1.0", without={"session.lod"})  # type: ignore[arg-type]


async def test_new_sessions_have_the_defaults_and_advertise_their_settings(version: int) -> None:
    async with talking(settable(), version) as client:
        response = await client.ask("session/new", cwd="/", mcpServers=[])
        options = {getattr(each, "config_id", getattr(each, "id", None)): each for each in response.config_options}
        if version == 1:
            assert response.modes.current_mode_id == "ask"
            assert [each.name for each in response.modes.available_modes] == ["Ask", "Code"]
            assert set(options) == {"mode", "model"}
            await client.until(lambda: client.of(response.session_id, "available_commands_update"))
        else:
            assert set(options) == {"mode", "model", "verbose"}
        assert (options["mode"].category, options["mode"].current_value) == ("mode", "ask")
        values = [(each.value, each.name, each.description) for each in options["mode"].options]
        assert values == [("ask", "Ask", "Asks first"), ("code", "Code", None)]
        await client.prompt(response.session_id, "tell")
        assert client.text(response.session_id) == "ask small False"


async def test_the_client_sets_modes_and_options(version: int) -> None:
    changes: list[Any] = []
    agent = settable(changes)

    @agent.on_mode
    async def on_mode(session: Session, mode: str) -> None:
        changes.append((session.id, mode))

    async with talking(agent, version) as client:
        session = await client.new()
        for option, value in (("mode", "code"), ("model", "big")):
            params = {"configId": option, "value": value, **({} if version == 1 else {"type": "id"})}
            response = await client.ask("session/set_config_option", sessionId=session, **params)
            assert value in [each.current_value for each in response.config_options]
        await client.prompt(session, "tell")
        assert client.text(session) == "code big False"
        assert changes == [(session, "code"), (session, "big")]


async def test_modes_and_their_option_stay_the_same_in_v1() -> None:
    async with talking(settable()) as client:
        session = await client.new()
        params = {"sessionId": session, "configId": "mode", "value": "code"}
        await client.ask("session/set_config_option", **params)
        await client.until(lambda: client.of(session, "current_mode_update"))
        assert client.of(session, "current_mode_update")[-1].current_mode_id == "code"
        await client.ask("session/set_mode", sessionId=session, modeId="ask")
        await client.until(lambda: client.of(session, "config_option_update"))
        (update,) = client.of(session, "config_option_update")
        assert [each.current_value for each in update.config_options] == ["ask", "small"]
        await client.prompt(session, "tell")
        assert client.text(session) == "ask small False"


async def test_a_boolean_option_is_offered_to_clients_that_have_them() -> None:
    async with served(settable()) as server, server.client(2) as client:
        session = await client.new()
        params: Any = {"sessionId": session, "configId": "verbose", "type": "boolean", "value": True}
        await client.ask("session/set_config_option", **params)
        await client.prompt(session, "tell")
        assert client.text(session) == "ask small True"
        with pytest.raises(RequestFailed, match="true or false"):
            await client.ask("session/set_config_option", **{**params, "type": "id", "value": "yes"})


async def test_unknown_values_are_refused_and_change_nothing(version: int) -> None:
    async with talking(settable(), version) as client:
        session = await client.new()
        kind: Any = {} if version == 1 else {"type": "id"}
        for name, value in (("model", "huge"), ("unknown", "x"), ("mode", "unknown")):
            with pytest.raises(RequestFailed) as refused:
                await client.ask("session/set_config_option", sessionId=session, configId=name, value=value, **kind)
            assert refused.value.code == -32602
        if version == 1:
            with pytest.raises(RequestFailed, match="ask, code"):
                await client.ask("session/set_mode", sessionId=session, modeId="unknown")
        await client.prompt(session, "tell")
        assert client.text(session) == "ask small False"


async def test_changes_by_the_agent_are_announced(version: int) -> None:
    async with talking(settable(), version) as client:
        session = await client.new()
        await client.prompt(session, "change")
        kinds = [each.session_update for each in client.of(session)]
        assert kinds.count("config_option_update") == 2
        assert kinds.count("current_mode_update") == (1 if version == 1 else 0)


async def test_settings_survive_a_load_without_a_turn_in_between(version: int) -> None:
    async with served(settable()) as server:
        async with server.client(version) as client:
            session = await client.new()
            await client.prompt(session, "tell")
            kind: Any = {} if version == 1 else {"type": "id"}
            await client.ask("session/set_config_option", sessionId=session, configId="model", value="big", **kind)
        async with server.client(version) as client:
            await client.load(session)
            since = len(client.updates)
            await client.prompt(session, "tell")
            assert client.text(session, since=since) == "ask big False"


async def test_a_handler_may_refuse_a_value() -> None:
    agent = settable()

    async def refuse(session: Session, value: object) -> None:
        raise InvalidParams("key: not paid for")

    agent.option("key", "Key", {"a": "A", "b": "B"}, default="a", on_set=refuse)
    async with talking(agent) as client:
        session = await client.new()
        with pytest.raises(RequestFailed, match="not paid"):
            await client.ask("session/set_config_option", sessionId=session, configId="key", value="b")


@pytest.mark.parametrize("text", ["/plan a garden", "/plan\ta garden ", "/plan\na garden", "\n /plan a garden"])
async def test_commands_have_their_own_handlers(version: int, text: str) -> None:
    async with talking(settable(), version) as client:
        session = await client.new()
        await client.prompt(session, text)
        assert client.text(session) == "plan for a garden"
        since = len(client.updates)
        await client.prompt(session, "/unknown")
        assert client.text(session, since=since) == "ask small False"


async def test_a_command_may_follow_what_the_client_attaches(version: int) -> None:
    texts = ["/tmp/plan.py is attached", "/plan a garden", "/plan a house"]
    async with talking(settable(), version) as client:
        session = await client.new()
        prompt = [{"type": "text", "text": text} for text in texts]
        await client.ask("session/prompt", sessionId=session, prompt=prompt)
        await client.until(lambda: client.text(session))
        assert client.text(session) == "plan for a garden"


@pytest.mark.parametrize(
    ("before", "said"), [("Explain ", "ask small False"), (" ", "plan for a garden"), ("", "plan for a garden")]
)
async def test_a_command_may_begin_the_text_after_a_mention_but_not_continue_it(
    version: int, before: str, said: str
) -> None:
    mention = {"type": "resource_link", "name": "plan.py", "uri": "file:///plan.py"}
    texts = [{"type": "text", "text": text} for text in (before, " /plan a garden")]
    async with talking(settable(), version) as client:
        session = await client.new()
        await client.ask("session/prompt", sessionId=session, prompt=[*texts[: bool(before)], mention, texts[1]])
        await client.until(lambda: client.text(session))
        assert client.text(session) == said


@pytest.mark.parametrize("general", [[], ["help"]])
async def test_a_session_has_commands_in_addition_to_those_of_the_agent(version: int, general: list[str]) -> None:
    agent = Agent("commands", version="1.0")
    heard: list[str] = []

    @agent.prompt
    async def answer(turn: Turn) -> None:
        heard.append(turn.text)
        own = [v1.AvailableCommand(name=turn.text.removeprefix("/"), description="A skill")]
        await turn.session.show(v1.AvailableCommandsUpdate(available_commands=own))

    for each in general:
        agent.command(each, "Help")(nothing)

    @agent.on_open
    async def opened(session: Session) -> None:
        own = [v1.AvailableCommand(name="review", description="A skill")]
        await session.show(v1.AvailableCommandsUpdate(available_commands=own))

    def last(client: Client) -> list[str]:
        return [each.name for each in client.of(session, "available_commands_update")[-1].available_commands]

    async with served(agent) as server, server.client(version) as client, server.client(version) as other:
        session = await client.new()
        await client.until(lambda: client.of(session, "available_commands_update"))
        assert last(client) == [*general, "review"]
        await client.prompt(session, "/plan")
        assert last(client) == [*general, "plan"]
        response = await other.load(session)
        if version == 1:
            await other.until(lambda: other.of(session, "available_commands_update"))
        names = last(other) if version == 1 else [each.name for each in response.available_commands]
    assert names == [*general, "plan"]
    assert heard == ["/plan"]


@pytest.mark.parametrize("text", ["/ plan a garden", "/\nplan", "/", "a /plan"])
async def test_a_slash_without_a_name_is_not_a_command(text: str) -> None:
    async with talking(settable()) as client:
        session = await client.new()
        await client.prompt(session, text)
        assert client.text(session) == "ask small False"


@pytest.mark.parametrize("protocol", ALL, ids=["v1", "v1_unstable", "v2", "v2_unstable"])
async def test_every_protocol_package_works(protocol: Any) -> None:
    agent = Agent("unstable", version="1.0", protocols=[protocol])
    agent.mode("ask", "Ask")

    @agent.prompt
    async def answer(turn: Turn) -> None:
        await turn.plan(["first"])
        async with turn.tool_call("Tool") as call:
            call.result("done")
        await turn.say(str(await turn.ask("Really?")))

    async with talking(agent, protocol) as client:
        session = await client.new()
        assert await client.prompt(session, "go") == "end_turn"
        assert client.text(session) == "True"
        since = len(client.updates)
        await client.load(session)
        assert client.text(session, since=since) == "True"


async def test_extension_methods_and_further_capabilities_are_handled() -> None:
    from acp_bindings import v1_unstable

    agent = Agent("more", version="1.0", capabilities={"session.title"}, protocols=[v1_unstable])

    @agent.prompt
    async def answer(turn: Turn) -> None: ...

    @agent.on("_acme/add")
    async def add(params: Any, connection: Connection) -> Any:
        return params["a"] + 1

    @agent.on("session/set_title")
    async def set_title(request: Any, connection: Connection) -> Any:
        return v1_unstable.SetSessionTitleResponse(title=request.title.strip())

    async with talking(agent, v1_unstable) as client:
        assert await client.connection.request({"a": 1}, method="_acme/add") == 2
        response = await client.ask("session/set_title", sessionId="s", title=" Plan")
        assert response.title == "Plan"


@pytest.mark.parametrize("what", ["@agent.on_open", "@agent.on_mode", "on_set of the option key", "@agent.login"])
async def test_a_function_that_is_not_async_is_named_in_the_log(what: str, caplog: pytest.LogCaptureFixture) -> None:
    def plain(*_: object) -> Any:
        return None

    method = v1.AuthMethodAgent(id="key", name="Key")
    agent = Agent("wrong", version="1.0", auth_methods=[method], protocols=[v1])
    agent.prompt(nothing)
    agent.mode("ask", "Ask")
    agent.on_mode(plain)
    agent.option("key", "Key", {"a": "A"}, default="a", on_set=plain)
    agent.login(plain)
    if "open" in what:
        agent.on_open(plain)

    async def use(client: Client) -> None:
        if "login" in what:
            await client.ask("authenticate", methodId="key")
        session = await client.new()
        if "mode" in what:
            await client.ask("session/set_mode", sessionId=session, modeId="ask")
        await client.ask("session/set_config_option", sessionId=session, configId="key", value="a")

    async with talking(agent) as client:
        with pytest.raises(RequestFailed, match="Internal error"):
            await use(client)
    assert f"{what} must be an async function" in str(caplog.records[-1].exc_info)


async def test_login_and_logout_are_called(version: int) -> None:
    method: Any = {"id": "key", "name": "Key"} if version == 1 else {"methodId": "key", "name": "Key", "type": "agent"}
    from acp_bindings.decoding import decode

    package: Any = v1 if version == 1 else v2
    agent = Agent("login", version="1.0", auth_methods=[decode(package.AuthMethod, method)], protocols=[package])
    logins: list[str] = []

    @agent.prompt
    async def answer(turn: Turn) -> None: ...

    @agent.login
    async def login(method_id: str) -> bool:
        logins.append(method_id)
        return True

    @agent.logout
    async def logout() -> bool:
        logins.append("out")
        return True

    async with talking(agent, version) as client:
        await client.ask("authenticate" if version == 1 else "auth/login", methodId="key")
        await client.ask("logout" if version == 1 else "auth/logout")
    assert logins == ["key", "out"]


def complete(**options: Any) -> Agent[Any]:
    agent: Agent[Any] = Agent("complete", version="1.0", **options)

    @agent.prompt
    async def answer(turn: Turn) -> None: ...

    return agent


async def refused(agent: Agent[Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        async with agent.serving():
            pass


async def nothing(*_: Any) -> None: ...


async def test_an_agent_without_a_prompt_handler_does_not_start() -> None:
    await refused(Agent("incomplete", version="1.0"), "does not have a prompt handler")


async def test_advertising_a_capability_without_a_handler_is_an_error_at_start() -> None:
    await refused(complete(capabilities={"auth.status"}, protocols=[v1_unstable]), "nothing handles auth/status")
    agent = complete(auth_methods=[v1.AuthMethodAgent(id="a", name="A")])
    await refused(agent, "but no function decorated with @agent.login")
    agent.login(nothing)
    await refused(agent, "logout, because v2 requires one")


async def test_capabilities_that_do_not_go_together_are_an_error_at_start() -> None:
    agent = complete(without=["session.close"])
    with pytest.raises(ValueError, match=r"every agent with sessions has session\.close"):
        agent.run()
    await refused(agent, r"every agent with sessions has session\.close")


@pytest.mark.parametrize("wrong", ["oauth", {"id": "oauth", "name": "OAuth"}])
def test_an_authentication_method_must_be_an_object(wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"such as v1\.AuthMethodAgent.*, not {type(wrong).__name__}$"):
        complete(auth_methods=[wrong])
    with pytest.raises(TypeError, match=rf"such as v1\.AuthMethodAgent.*, not {type(wrong).__name__}$"):
        AgentHandshake(anonymous=True, auth_methods=[wrong])


async def test_a_login_in_a_terminal_needs_no_function(version: int) -> None:
    method = v1.AuthMethodTerminal(id="setup", name="Setup", args=["--setup"])
    agent = complete(auth_methods=[method])
    await refused(agent, "logout, because v2 requires one")
    agent.logout(nothing)
    async with talking(agent, version, capabilities={"auth.terminal"}) as client:
        assert [each.type for each in client.agent.auth_methods] == ["terminal"]


async def test_a_handler_that_cannot_be_reached_is_an_error_at_start() -> None:
    agent = complete()
    agent.on("session/set_title")(nothing)
    await refused(agent, "cannot be reached.*session.title")
    agent = complete()
    agent.on_mode(nothing)
    await refused(agent, "on_mode")
    agent = complete()
    agent.login(nothing)
    await refused(agent, "but no auth_methods")
    agent = complete()
    agent.logout(nothing)
    await refused(agent, "but no auth_methods")


def test_mistakes_of_authors_are_errors_at_registration() -> None:
    agent = complete()
    with pytest.raises(ValueError, match="already has a prompt handler"):
        agent.prompt(nothing)
    with pytest.raises(ValueError, match="handled by the agent itself"):
        agent.on("session/prompt")
    with pytest.raises(ValueError, match="clients handle it"):
        agent.on("session/update")
    with pytest.raises(ValueError, match="begin with _"):
        agent.on("acme/add")
    with pytest.raises(ValueError, match="a word without a slash"):
        agent.command("/plan", "Plans")
    agent.mode("a", "A")
    with pytest.raises(ValueError, match="already has the mode a"):
        agent.mode("a", "A")
    with pytest.raises(InvalidParams, match="must be one of"):
        agent.option("b", "B", {"x": "X"}, default="y")
    with pytest.raises(ValueError, match=r"cannot have session\.fork"):
        complete(capabilities={"session.fork"}, protocols=[v1_unstable])
    with pytest.raises(UnknownCapability, match=r"mcp\.htp"):
        complete(capabilities={"mcp.htp"})


async def test_an_option_named_mode_conflicts_with_modes() -> None:
    agent = complete()
    agent.mode("a", "A")
    agent.option("mode", "Mode", {"x": "X"}, default="x")
    await refused(agent, "another id")


async def test_an_agent_is_served_once_at_a_time() -> None:
    agent = complete()
    async with agent.serving():
        with pytest.raises(RuntimeError, match="served already"):
            async with agent.serving():
                pass
    async with agent.serving():
        pass


def test_every_capability_is_either_the_agents_or_the_authors() -> None:
    own = {"auth.login", "auth.logout", "session", *complete()._capabilities}  # pyright: ignore[reportPrivateUsage]
    others = ("mcp.h", "mcp.s", "prompt.", "session.fork", "session.system_prompt")
    authors = {name for name in AGENT if name not in own and not name.startswith(others)}
    assert {*get_args(Capability)} == authors, "the author's capabilities are listed as `Capability` in agent/_agent.py"


async def test_elicitation_is_sent_only_to_clients_that_support_it(version: int) -> None:
    agent = Agent("asking", version="1.0")
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}

    @agent.prompt
    async def ask(turn: Turn) -> None:
        await turn.say(str(await turn.elicit("Your name?", schema)))

    def prepare(client: Any) -> None:
        async def answer(request: Any, connection: Connection) -> Any:
            from acp_bindings.decoding import decode

            package: Any = connection.protocol
            return decode(package.CreateElicitationResponse, {"action": "accept", "content": {"name": "Ada"}})

        client.handlers.on("elicitation/create")(answer)

    async with served(agent) as server:
        async with server.client(version, capabilities={"elicitation.form"}, prepare=prepare) as client:
            session = await client.new()
            await client.prompt(session, "go")
            assert client.text(session) == "{'name': 'Ada'}"
        async with server.client(version) as client:
            session = await client.new()
            await client.prompt(session, "go")
            assert client.text(session) == "None"


async def test_an_elicitation_is_closed_with_the_turn(version: int) -> None:
    agent = Agent("asking", version="1.0")
    closed = anyio.Event()
    answers: list[Any] = []

    @agent.prompt
    async def ask(turn: Turn) -> None:
        async def of_a_server() -> None:
            params: Any = {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
            answers.append(await turn.session.forward_elicitation(params))

        with anyio.CancelScope(shield=True):
            await of_a_server()

    def prepare(client: Any) -> None:
        async def answer(request: Any, connection: Connection) -> Any:
            client.asked.append(request)
            client._news.set()
            try:
                await anyio.sleep_forever()
            finally:
                closed.set()

        client.handlers.on("elicitation/create")(answer)

    async with (
        served(agent) as server,
        server.client(version, capabilities={"elicitation.form"}, prepare=prepare) as client,
        anyio.create_task_group() as tasks,
    ):
        session = await client.new()
        tasks.start_soon(client.prompt, session, "go")
        await client.until(lambda: client.asked)
        await client.cancel(session)
        await closed.wait()
    assert answers == [{"action": "cancel"}]


def test_an_incomplete_agent_ends_with_its_error_as_the_last_line() -> None:
    # A client shows this line.
    program = 'from acp_bindings.agent import Agent; Agent("x", version="1.0").run()'
    done = subprocess.run([sys.executable, "-c", program], input=b"", capture_output=True, check=False)

    assert done.stderr.splitlines()[-1].startswith(b"ValueError: agent x does not have a prompt handler")
