// An agent of v1 and v2 by the TypeScript SDK, at a URL. It prints its port, and exits at the end of its input.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import * as v1 from "@agentclientprotocol/sdk";
import * as node from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { WebSocketServer } from "ws";

const MOST = 64 << 20;
const info = { name: "typescript", version: "1.0" };
const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
const initialized = {
  1: { protocolVersion: 1, agentInfo: info, agentCapabilities: { loadSession: true } },
  2: { protocolVersion: 2, info, capabilities: { session: {} } },
};
const questions = {
  1: { toolCall: { toolCallId: "t" }, options },
  2: { title: "May I?", subject: { type: "tool_call", toolCall: { toolCallId: "t" } }, options },
};
const sessions = new Map();

function active(sessionId) {
  if (!sessions.has(sessionId)) throw v1.RequestError.sessionNotFound(sessionId);
  return sessions.get(sessionId);
}

async function turn(version, { sessionId, prompt: [{ text }] }, client) {
  const session = active(sessionId);
  const messageId = randomUUID();
  const say = async (words) => {
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: words }, messageId };
    session.history.push(update);
    await client.notify("session/update", { sessionId, update });
  };
  const [command, number] = text.split(" ");
  if (command === "count") {
    for (let each = 0; each < Number(number); each++) await say(`${each} `);
  } else if (command === "wait") {
    const cancelled = new Promise((resolve) => (session.cancel = resolve));
    await say("waiting");
    await cancelled;
    return "cancelled";
  } else if (command === "ask") {
    const { outcome } = await client.request("session/request_permission", { sessionId, ...questions[version] });
    await say(outcome.optionId);
  } else {
    await say(`${text.length}: ${text.slice(0, 20)}`);
  }
  return "end_turn";
}

const agent = (sdk, version) => sdk.agent(info)
  .onRequest("initialize", () => initialized[version])
  .onRequest("session/new", () => {
    const sessionId = randomUUID();
    sessions.set(sessionId, { history: [] });
    return { sessionId };
  })
  .onNotification("session/cancel", ({ params }) => sessions.get(params.sessionId)?.cancel());

async function load({ params: { sessionId }, client }) {
  for (const update of active(sessionId).history) await client.notify("session/update", { sessionId, update });
  return {};
}

const agent1 = () => agent(v1, 1)
  .onRequest("session/load", load)
  .onRequest("session/prompt", async ({ params, client }) => ({ stopReason: await turn(1, params, client) }));

// There a prompt is answered at once, and a state says when its turn is over.
const agent2 = () => agent(v2, 2)
  .onRequest("session/resume", load)
  .onRequest("session/prompt", ({ params, client }) => {
    const { sessionId } = params;
    active(sessionId);
    const state = (update) => client.notify("session/update", { sessionId, update: { sessionUpdate: "state_update", ...update } });
    setImmediate(async () => {
      await state({ state: "running" });
      await state({ state: "idle", stopReason: await turn(2, params, client) });
    });
    return { messageId: randomUUID() };
  });

const server = new AcpServer({
  createAgent: () => v2.agentProtocolRouter().withV1(agent1()).withV2(agent2()),
});
const http = createServer(node.createNodeHttpHandler(server, { maxRequestBodyBytes: MOST }));
http.on("upgrade", node.createNodeWebSocketUpgradeHandler(server, new WebSocketServer({ noServer: true, maxPayload: MOST })));
http.listen(0, "127.0.0.1", () => console.log(http.address().port));
process.stdin.on("end", () => process.exit()).resume();
