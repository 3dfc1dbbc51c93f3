// The TypeScript SDK's client talks with an agent that echoes: `hello.mjs VERSION CWD COMMAND…` prints what it has heard.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";

import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";

const [version, cwd, command, ...args] = process.argv.slice(2);
const sdk = version === "1" ? v1 : v2;
const info = { name: "typescript", version: "1.0" };
const place = { cwd, mcpServers: [] };
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = once(child, "exit");
const texts = {};
let idle;

const app = sdk.client({ name: "typescript" }).onNotification("session/update", ({ params: { sessionId, update } }) => {
  const content = [update.content].flat()[0];
  if (content?.text) (texts[sessionId] ??= []).push(content.text);
  if (update.state === "idle" && update.stopReason) idle(update.stopReason);
});

await app.connectWith(sdk.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
  const initialize = version === "1"
    ? { protocolVersion: 1, clientInfo: info, clientCapabilities: {} }
    : { protocolVersion: 2, info, capabilities: {} };
  const { protocolVersion } = await agent.request("initialize", initialize);
  const stops = [];
  const sessions = [(await agent.request("session/new", place)).sessionId, (await agent.request("session/new", place)).sessionId];
  for (const sessionId of sessions) {
    const ended = new Promise((resolve) => (idle = resolve));
    const { stopReason } = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "Hello" }] });
    stops.push(stopReason ?? (await ended));
  }
  const said = sessions.map((each) => texts[each].splice(0).at(-1));
  const again = version === "1"
    ? ["session/load", { sessionId: sessions[0], ...place }]
    : ["session/resume", { sessionId: sessions[0], ...place, replayFrom: { type: "start" } }];
  await agent.request(...again);
  // The SDK may call the handlers of updates after it has returned a response that came later.
  await new Promise((resolve) => setTimeout(resolve, 0));
  console.log(JSON.stringify({ protocolVersion, stops, said, replay: texts[sessions[0]] }));
});
child.stdin.end();
await exited;
