// An agent built with the TypeScript SDK, for our client to talk to; ACP_SESSIONS is the folder of its sessions.
// A line `call SERVER__TOOL NAME=VALUE …` calls a tool of one of the session's MCP servers; any other is said back.

import { randomUUID } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

import { agent, ndJsonStream, RequestError } from "@agentclientprotocol/sdk";
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
  if (!("type" in server)) {
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
  if (!open.has(sessionId)) throw RequestError.sessionNotFound(sessionId);
  return open.get(sessionId);
}

async function stored(sessionId) {
  try {
    return JSON.parse(await readFile(file(sessionId), "utf8"));
  } catch {
    throw RequestError.sessionNotFound(sessionId);
  }
}

async function again({ params }) {
  const { history } = await stored(params.sessionId);
  return await start(params.sessionId, params.cwd, params.mcpServers ?? [], history);
}

async function prompt({ params: { sessionId, prompt }, client }) {
  const session = active(sessionId);
  const { signal } = (session.prompt = new AbortController());
  const tell = async (update) => {
    session.history.push(update);
    await client.notify("session/update", { sessionId, update });
  };
  session.history.push(...prompt.map((content) => ({ sessionUpdate: "user_message_chunk", content })));
  try {
    for (const line of prompt.flatMap((block) => (block.text ?? "").split("\n"))) await obey(session, line, tell, signal);
    return { stopReason: "end_turn" };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { stopReason: "cancelled" };
  } finally {
    await writeFile(file(sessionId), JSON.stringify({ cwd: session.cwd, history: session.history }));
  }
}

async function obey(session, line, tell, signal) {
  const [command, tool = "", ...given] = line.split(" ");
  const [server, name] = tool.split("__");
  if (command !== "call" || !session.tools.has(server)) {
    await tell({ sessionUpdate: "agent_message_chunk", content: text(line) });
    return;
  }
  const toolCallId = randomUUID();
  await tell({ sessionUpdate: "tool_call", toolCallId, title: tool, status: "in_progress" });
  const call = { name, arguments: Object.fromEntries(given.map((each) => each.split("="))) };
  const result = await session.tools.get(server).callTool(call, undefined, { signal });
  const content = result.content.map((block) => ({ type: "content", content: block }));
  await tell({ sessionUpdate: "tool_call_update", toolCallId, status: "completed", content });
}

const connection = agent({ name: "typescript" })
  .onRequest("initialize", () => ({
    protocolVersion: 1,
    agentInfo: { name: "typescript", version: "1.0" },
    agentCapabilities: {
      loadSession: true,
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    },
  }))
  .onRequest("session/new", async ({ params }) => {
    const sessionId = randomUUID();
    await start(sessionId, params.cwd, params.mcpServers, []);
    return { sessionId };
  })
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
  .onRequest("session/prompt", prompt)
  .onNotification("session/cancel", ({ params }) => open.get(params.sessionId)?.prompt?.abort())
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

await connection.closed;
await Promise.all([...open.keys()].map(stop));
