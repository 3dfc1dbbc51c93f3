// An agent of v1 and v2 built with the TypeScript SDK, for our client to talk to; ACP_SESSIONS is the folder of its sessions.
// A line `call SERVER__TOOL NAME=VALUE …` calls a tool of one of the session's MCP servers; any other is said back.

import { randomUUID } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const folder = process.env.ACP_SESSIONS;
const open = new Map();
const file = (sessionId) => join(folder, `${sessionId}.json`);
const pairs = (list) => Object.fromEntries(list.map(({ name, value }) => [name, value]));
const text = (words) => ({ type: "text", text: words });

function transport(server, cwd) {
  if ((server.type ?? "stdio") === "stdio") {
    return new StdioClientTransport({ command: server.command, args: server.args, env: pairs(server.env), cwd });
  }
  const options = { requestInit: { headers: pairs(server.headers) } };
  const url = new URL(server.url);
  return server.type === "sse" ? new SSEClientTransport(url, options) : new StreamableHTTPClientTransport(url, options);
}

async function start(sessionId, cwd, servers, history) {
  const connected = servers.map(async (server) => {
    const client = new Client({ name: "typescript", version: "1.0" });
    await client.connect(transport(server, cwd));
    return [server.name, client];
  });
  const session = { cwd, history, tools: new Map(await Promise.all(connected)), prompt: null };
  open.set(sessionId, session);
  return session;
}

async function stop(sessionId) {
  const session = active(sessionId);
  session.prompt?.abort();
  open.delete(sessionId);
  await Promise.all([...session.tools.values()].map((client) => client.close()));
}

function active(sessionId) {
  if (!open.has(sessionId)) throw v1.RequestError.sessionNotFound(sessionId);
  return open.get(sessionId);
}

async function stored(sessionId) {
  try {
    return JSON.parse(await readFile(file(sessionId), "utf8"));
  } catch {
    throw v1.RequestError.sessionNotFound(sessionId);
  }
}

async function again({ params }) {
  const { history } = await stored(params.sessionId);
  return await start(params.sessionId, params.cwd, params.mcpServers ?? [], history);
}

// One turn: what it says, its tools, and why it ended.
async function turn({ sessionId, prompt }, session, words, client) {
  const { signal } = (session.prompt = new AbortController());
  const tell = async (update) => {
    session.history.push(update);
    await client.notify("session/update", { sessionId, update });
  };
  try {
    for (const line of prompt.flatMap((block) => (block.text ?? "").split("\n"))) {
      await obey(session, line, words, tell, signal);
    }
    return "end_turn";
  } catch (error) {
    if (!signal.aborted) throw error;
    return "cancelled";
  } finally {
    await writeFile(file(sessionId), JSON.stringify({ cwd: session.cwd, history: session.history }));
  }
}

async function obey(session, line, words, tell, signal) {
  const [command, tool = "", ...given] = line.split(" ");
  const [server, name] = tool.split("__");
  if (command !== "call" || !session.tools.has(server)) {
    await tell(words.say(line));
    return;
  }
  const toolCallId = randomUUID();
  await tell({ sessionUpdate: words.begins, toolCallId, title: tool, status: "in_progress" });
  const call = { name, arguments: Object.fromEntries(given.map((each) => each.split("="))) };
  const result = await session.tools.get(server).callTool(call, undefined, { signal });
  const content = result.content.map((block) => ({ type: "content", content: block }));
  await tell({ sessionUpdate: "tool_call_update", toolCallId, status: "completed", content });
}

const info = { name: "typescript", version: "1.0" };
const words = {
  1: {
    initialize: {
      protocolVersion: 1,
      agentInfo: info,
      agentCapabilities: {
        loadSession: true,
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
    },
    begins: "tool_call",
    say: (line) => ({ sessionUpdate: "agent_message_chunk", content: text(line) }),
  },
  2: {
    initialize: { protocolVersion: 2, info, capabilities: { session: { mcp: { stdio: {}, http: {} }, delete: {} } } },
    begins: "tool_call_update",
    say: (line) => ({ sessionUpdate: "agent_message_chunk", messageId: randomUUID(), content: text(line) }),
  },
};

// What v1 and v2 have in common.
const agent = (sdk, version) => sdk.agent({ name: "typescript" })
  .onRequest("initialize", () => words[version].initialize)
  .onRequest("session/new", async ({ params }) => {
    const sessionId = randomUUID();
    await start(sessionId, params.cwd, params.mcpServers ?? [], []);
    return { sessionId };
  })
  .onRequest("session/list", async () => {
    const ids = (await readdir(folder)).map((name) => name.replace(/\.json$/, ""));
    return { sessions: await Promise.all(ids.map(async (sessionId) => ({ sessionId, cwd: (await stored(sessionId)).cwd }))) };
  })
  .onRequest("session/close", async ({ params }) => {
    await stop(params.sessionId);
    return {};
  })
  .onRequest("session/delete", async ({ params }) => {
    if (open.has(params.sessionId)) await stop(params.sessionId);
    await rm(file(params.sessionId), { force: true });
    return {};
  })
  .onNotification("session/cancel", ({ params }) => open.get(params.sessionId)?.prompt?.abort());

const agent1 = agent(v1, 1)
  .onRequest("session/load", async (context) => {
    const { history } = await again(context);
    const { sessionId } = context.params;
    for (const update of history) await context.client.notify("session/update", { sessionId, update });
    return {};
  })
  .onRequest("session/resume", async (context) => {
    await again(context);
    return {};
  })
  .onRequest("session/prompt", async ({ params, client }) => {
    const session = active(params.sessionId);
    session.history.push(...params.prompt.map((content) => ({ sessionUpdate: "user_message_chunk", content })));
    return { stopReason: await turn(params, session, words[1], client) };
  });

// There a prompt is answered at once, and a state says when its turn is over.
const agent2 = agent(v2, 2)
  .onRequest("session/resume", async (context) => {
    const { history } = await again(context);
    const { sessionId, replayFrom } = context.params;
    const idle = { sessionUpdate: "state_update", state: "idle" };
    for (const update of [...(replayFrom ? history : []), idle]) {
      await context.client.notify("session/update", { sessionId, update });
    }
    return {};
  })
  .onRequest("session/prompt", ({ params, client }) => {
    const { sessionId, prompt } = params;
    const session = active(sessionId);
    const messageId = randomUUID();
    const tell = (update) => client.notify("session/update", { sessionId, update });
    const message = { sessionUpdate: "user_message", messageId, content: prompt };
    session.history.push(message);
    setImmediate(async () => {
      await tell(message);
      await tell({ sessionUpdate: "state_update", state: "running" });
      const stopReason = await turn(params, session, words[2], client).catch(() => "refusal");
      await tell({ sessionUpdate: "state_update", state: "idle", stopReason });
    });
    return { messageId };
  });

const connection = v2.agentProtocolRouter().withV1(agent1).withV2(agent2)
  .connect(v2.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

await connection.closed;
await Promise.all([...open.keys()].map(stop));
