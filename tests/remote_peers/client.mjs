// The TypeScript SDK's client talks to an agent at a URL: `client.mjs URL VERSION SIZE` prints the facts as JSON.

import * as v1 from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import WebSocket from "ws";

const [url, version, size] = process.argv.slice(2);
const sdk = version === "1" ? v1 : v2;
const info = { name: "typescript", version: "1.0" };
const opening = version === "1" ? { protocolVersion: 1, clientInfo: info } : { protocolVersion: 2, info, capabilities: {} };
const place = { cwd: "/tmp", mcpServers: [] };
const load = version === "1" ? ["session/load", {}] : ["session/resume", { replayFrom: { type: "start" } }];

// What the agent has said in a session, and what waits for a word or for the end of a turn.
const sessions = new Map();
const heard = (sessionId) => {
  if (!sessions.has(sessionId)) sessions.set(sessionId, { said: "", onSaid: () => {}, onIdle: () => {} });
  return sessions.get(sessionId);
};

async function connect(act) {
  const stream = url.startsWith("ws") ? createWebSocketStream(url, { WebSocket }) : createHttpStream(url);
  await sdk.client(info)
    .onRequest("session/request_permission", ({ params: { options } }) => {
      return { outcome: { outcome: "selected", optionId: options[0].optionId } };
    })
    .onNotification("session/update", ({ params: { sessionId, update } }) => {
      const session = heard(sessionId);
      if (update.sessionUpdate.startsWith("agent_message")) {
        session.said += [update.content].flat().map((each) => each.text).join("");
        session.onSaid();
      }
      if (update.state === "idle" && update.stopReason) session.onIdle(update.stopReason);
    })
    .connectWith(stream, act);
}

// How a prompt ended: v1 says it in the response, v2 by a state.
async function ask(agent, sessionId, text) {
  const idle = new Promise((resolve) => (heard(sessionId).onIdle = resolve));
  const { stopReason } = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  return version === "1" ? stopReason : await idle;
}

const facts = {};
let sessionId;
await connect(async (agent) => {
  facts.version = (await agent.request("initialize", opening)).protocolVersion;
  ({ sessionId } = await agent.request("session/new", place));
  const { sessionId: other } = await agent.request("session/new", place);
  const waiting = new Promise((resolve) => (heard(other).onSaid = resolve));
  const cancelled = ask(agent, other, "wait");
  await waiting;
  facts.prompt = await ask(agent, sessionId, "count 300");
  await agent.notify("session/cancel", { sessionId: other });
  facts.cancelled = await cancelled;
  facts.permission = await ask(agent, sessionId, "ask");
  facts.large = await ask(agent, sessionId, "x".repeat(Number(size)));
  facts.said = heard(sessionId).said;
  facts.unknown = await ask(agent, "unknown", "hello").catch(({ code }) => code);
});
sessions.clear();
await connect(async (agent) => {
  await agent.request("initialize", opening);
  await agent.request(load[0], { sessionId, ...place, ...load[1] });
  // Its updates come after the history, on the same stream.
  facts.again = await ask(agent, sessionId, "hello");
  facts.loaded = heard(sessionId).said;
});
console.log(JSON.stringify(facts));
process.exit();
