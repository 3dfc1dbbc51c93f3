// Client and server of the TypeScript SDK: `node sdk.mjs server PORT UPDATES` and `node sdk.mjs client URL UPDATES`.

import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import * as v1 from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import WebSocket, { WebSocketServer } from "ws";

const [role, where, file] = process.argv.slice(2);

if (role === "server") {
  const updates = JSON.parse(readFileSync(file, "utf8"));
  const agent = v1
    .agent({ name: "bench" })
    .onRequest("initialize", () => ({ protocolVersion: 1 }))
    .onRequest("session/new", () => ({ sessionId: "session-1" }))
    .onRequest("session/prompt", async ({ params: { sessionId, prompt }, client }) => {
      for (const update of updates.slice(0, Number(prompt[0].text))) {
        await client.notify("session/update", { sessionId, update });
      }
      return { stopReason: "end_turn" };
    });
  const server = new AcpServer({ agent });
  const http = createServer(createNodeHttpHandler(server));
  http.on("upgrade", createNodeWebSocketUpgradeHandler(server, new WebSocketServer({ noServer: true })));
  http.listen(Number(where), "127.0.0.1");
} else {
  const stream = where.startsWith("ws") ? createWebSocketStream(where, { WebSocket }) : createHttpStream(where);
  let count = 0;
  const client = v1.client({ name: "bench" }).onNotification("session/update", () => {
    count += 1;
  });
  await client.connectWith(stream, async (agent) => {
    await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await agent.request("session/new", { cwd: "/project", mcpServers: [] });
    console.log("ready");
    for await (const line of createInterface({ input: process.stdin })) {
      count = 0;
      await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: line }] });
      while (count < Number(line)) await new Promise(setImmediate);
      console.log(count);
    }
  });
}
