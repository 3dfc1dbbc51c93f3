// The TypeScript SDK's client drives an agent through every step: `client.mjs PLAN` prints the facts as JSON.
// The plan and the facts are those of steps.py.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";

import { client, ndJsonStream } from "@agentclientprotocol/sdk";

const plan = JSON.parse(process.argv[2]);
const facts = {};

const info = { name: "typescript", version: "1.0" };
const opening = { protocolVersion: 1, clientInfo: info, clientCapabilities: {} };
const blocks = (words) => [{ type: "text", text: words }];
const NOT_OFFERED = { offered: false };
const place = { cwd: plan.cwd, mcpServers: plan.servers };

// The texts of an update, each with what it is.
function texts({ sessionUpdate: kind, content }) {
  const found = Array.isArray(content) ? content.map((each) => each.content?.text) : [content?.text];
  return found.filter((each) => each !== undefined).map((each) => [kind, each]);
}

async function connect(command, act) {
  const env = { ...process.env, ...plan.env };
  const child = spawn(command[0], command.slice(1), { cwd: plan.cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => {});
  const ended = once(child, "exit");
  const heard = { updates: [], answers: [], called: () => {} };
  const app = client({ name: "typescript" })
    .onNotification("session/update", ({ params }) => {
      heard.updates.push(params.update);
      if (params.update.sessionUpdate.startsWith("tool_call")) heard.called();
    })
    .onNotification("_between/answered", (params) => params, ({ params }) => void heard.answers.push(params.code));
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  try {
    await app.connectWith(stream, (agent) => act({ agent, child, heard }));
  } finally {
    child.stdin.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), plan.patience);
    await ended;
    clearTimeout(timer);
  }
}

// What comes too early, and an `initialize` that is none.
async function beforeInitialize() {
  await connect(plan.agent, async ({ agent }) => {
    facts["session/new before initialize"] = { code: await code(agent.request("session/new", place)) };
    const dated = { ...opening, protocolVersion: "2025-06-18" };
    facts["a version that is a date"] = { code: await code(agent.request("initialize", dated)) };
  });
}

// A client of v1 and v2.
async function bothVersions() {
  await connect(plan.agent, async ({ agent }) => {
    const both = { ...opening, protocolVersion: 2, info, capabilities: {} };
    facts["initialize, v2 offered"] = { version: (await agent.request("initialize", both)).protocolVersion };
  });
}

// An agent that answers with a version that nobody has.
async function strangeVersion() {
  await connect([...plan.between, "version", ...plan.agent], async ({ agent }) => {
    const refused = await agent.request("initialize", opening).then(() => false, () => true);
    facts["an agent of a version that nobody has"] = { refused };
  });
}

// What the types do not let us say.
async function untyped() {
  await connect(plan.agent, async ({ agent }) => {
    await agent.request("initialize", opening);
    facts["session/new without cwd"] = { code: await code(agent.request("session/new", { mcpServers: [] })) };
    facts["an unknown method"] = {
      code: await code(agent.request("session/of_tomorrow", {})),
      extension: await code(agent.request("_example/do", {})),
    };
    const nobody = agent.request("session/prompt", { sessionId: "nobody", prompt: blocks("Hello") });
    facts["an unknown session"] = { code: await code(nobody) };
  });
}

// A session from its beginning to its end, over three connections.
async function conversation() {
  let sessionId;
  let offered;
  await connect(plan.agent, async ({ agent, heard }) => {
    const { protocolVersion, agentCapabilities } = await agent.request("initialize", opening);
    facts["initialize"] = { version: protocolVersion };
    const { mcpCapabilities = {}, sessionCapabilities = {}, loadSession } = agentCapabilities;
    offered = (name) => ({ stdio: true, ...mcpCapabilities, ...sessionCapabilities, load: loadSession })[name];
    ({ sessionId } = await agent.request("session/new", place));
    facts["session/new"] = { session: typeof sessionId };
    for (const transport of ["stdio", "http", "sse"]) {
      facts[`a tool over ${transport}`] = await ask({ agent, heard }, sessionId, plan.prompts[transport]);
    }
    const answer = await waiting({ agent, heard }, sessionId);
    await agent.notify("session/cancel", { sessionId });
    facts["session/cancel"] = { stop: (await answer.became).stopReason };
    facts["session/list"] = NOT_OFFERED;
    if (offered("list")) facts["session/list"] = { cwd: (await listed(agent, sessionId))?.cwd ?? null };
    facts["session/close"] = NOT_OFFERED;
    if (offered("close")) {
      await agent.request("session/close", { sessionId });
      const afterwards = agent.request("session/prompt", { sessionId, prompt: blocks("Hello") });
      facts["session/close"] = { afterwards: await code(afterwards) };
    }
  });
  await connect(plan.agent, async ({ agent, heard }) => {
    await agent.request("initialize", opening);
    facts["session/load"] = NOT_OFFERED;
    if (offered("load")) facts["session/load"] = await comeBack({ agent, heard }, "session/load", sessionId);
  });
  await connect(plan.agent, async ({ agent, heard }) => {
    await agent.request("initialize", opening);
    facts["session/resume"] = facts["session/delete"] = NOT_OFFERED;
    if (offered("resume")) facts["session/resume"] = await comeBack({ agent, heard }, "session/resume", sessionId);
    if (offered("delete")) {
      await agent.request("session/delete", { sessionId });
      const afterwards = await code(agent.request("session/load", { sessionId, ...place }));
      facts["session/delete"] = { listed: Boolean(await listed(agent, sessionId)), afterwards };
    }
  });
}

// An update and a request that the protocol does not have.
async function news() {
  await connect([...plan.between, "news", ...plan.agent], async ({ agent, heard }) => {
    await agent.request("initialize", opening);
    const { sessionId } = await agent.request("session/new", place);
    const answer = await ask({ agent, heard }, sessionId, plan.prompts.stdio);
    const kept = heard.updates.some((each) => each.sessionUpdate === "news_of_tomorrow");
    facts["an unknown update"] = { ...answer, kept };
    facts["an unknown request of the agent"] = { code: heard.answers[0] ?? null };
  });
}

// An agent that is killed.
async function death() {
  const connection = connect(plan.agent, async ({ agent, heard, child }) => {
    await agent.request("initialize", opening);
    const { sessionId } = await agent.request("session/new", place);
    const answer = await waiting({ agent, heard }, sessionId);
    child.kill("SIGKILL");
    facts["the agent dies in a prompt"] = { failed: await answer.became.then(() => false, () => true) };
  });
  // Whoever holds the connection is told of its end too.
  await connection.catch(() => {});
}

// The code that a request is answered with; 0 for no error.
const code = (request) => request.then(() => 0, (error) => error.code ?? null);

// How a prompt ended, and what was said meanwhile.
async function ask({ agent, heard }, sessionId, words) {
  heard.updates.length = 0;
  const { stopReason } = await agent.request("session/prompt", { sessionId, prompt: blocks(words) });
  return { stop: stopReason, said: heard.updates.flatMap(texts) };
}

// A prompt for which a tool is being called that waits, and what becomes of it.
async function waiting({ agent, heard }, sessionId) {
  const called = new Promise((resolve) => (heard.called = resolve));
  const became = agent.request("session/prompt", { sessionId, prompt: blocks(plan.prompts.wait) });
  became.catch(() => {});
  await called;
  return { became };
}

async function comeBack({ agent, heard }, method, sessionId) {
  await agent.request(method, { sessionId, ...place });
  const replay = heard.updates.flatMap(texts);
  return { replay, again: await ask({ agent, heard }, sessionId, plan.prompts.stdio) };
}

async function listed(agent, sessionId) {
  const { sessions } = await agent.request("session/list", {});
  return sessions.find((each) => each.sessionId === sessionId);
}

const others = async () => {
  for (const scene of [beforeInitialize, bothVersions, strangeVersion, untyped, news, death]) await scene();
};
await Promise.all([conversation(), others()]);
console.log(JSON.stringify(facts));
