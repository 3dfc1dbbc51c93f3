// The TypeScript SDK's client drives an agent through every step: `client.mjs PLAN` prints the facts as JSON.
// The plan and the facts are those of steps.py.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";

import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";

const plan = JSON.parse(process.argv[2]);
const facts = {};

const sdk = plan.version === 1 ? v1 : v2;
const info = { name: "typescript", version: "1.0" };
const openings = {
  1: { protocolVersion: 1, clientInfo: info, clientCapabilities: {} },
  2: { protocolVersion: 2, info, capabilities: {} },
};
const opening = openings[plan.version];
const blocks = (words) => [{ type: "text", text: words }];
const NOT_OFFERED = { offered: false };
const place = { cwd: plan.cwd, mcpServers: plan.servers };

// The texts of an update, each with what it is.
function texts({ sessionUpdate: kind, content }) {
  const found = Array.isArray(content) ? content.map((each) => (each.content ?? each).text) : [content?.text];
  return found.filter((each) => each !== undefined).map((each) => [kind, each]);
}

async function connect(command, act) {
  const env = { ...process.env, ...plan.env };
  const child = spawn(command[0], command.slice(1), { cwd: plan.cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => {});
  const exited = once(child, "exit");
  const heard = { updates: [], answers: [], called: () => {}, idle: () => {}, closed: exited };
  const app = sdk.client({ name: "typescript" })
    .onNotification("session/update", ({ params: { update } }) => {
      heard.updates.push(update);
      if (update.sessionUpdate.startsWith("tool_call")) heard.called();
      // One without a reason says how a session stands that has been loaded.
      if (update.state === "idle" && update.stopReason) heard.idle(update.stopReason);
    })
    .onNotification("_between/answered", (params) => params, ({ params }) => void heard.answers.push(params.code));
  const stream = sdk.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  let acting;
  try {
    await app.connectWith(stream, (agent) => (acting = act({ agent, child, heard })));
  } catch {
    // The connection may end before what is done on it, which may be what was to be seen.
    await acting;
  } finally {
    child.stdin.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), plan.patience);
    await exited;
    clearTimeout(timer);
  }
}

// What comes too early, and an `initialize` that is none.
async function beforeInitialize() {
  await connect([...plan.between, "date", ...plan.agent], async ({ agent }) => {
    facts["session/new before initialize"] = { code: await code(agent.request("session/new", place)) };
    facts["a version that is a date"] = { code: await code(agent.request("initialize", opening)) };
  });
}

// A client of v1 and v2.
async function bothVersions() {
  await connect(plan.agent, async ({ agent }) => {
    const both = { ...openings[1], ...openings[2] };
    facts["initialize, v2 offered"] = { version: (await agent.request("initialize", both)).protocolVersion };
  });
}

// An agent that responds with an unknown version.
async function strangeVersion() {
  await connect([...plan.between, "version", ...plan.agent], async ({ agent }) => {
    const refused = await agent.request("initialize", opening).then(() => false, () => true);
    facts["an agent of an unknown version"] = { refused };
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
    const answer = await agent.request("initialize", opening);
    facts["initialize"] = { version: answer.protocolVersion };
    offered = capabilities(answer);
    ({ sessionId } = await agent.request("session/new", place));
    facts["session/new"] = { session: typeof sessionId };
    for (const transport of ["stdio", "http", "sse"]) {
      const step = `a tool over ${transport}`;
      facts[step] = NOT_OFFERED;
      if (offered[transport]) facts[step] = await ask({ agent, heard }, sessionId, plan.prompts[transport]);
    }
    const { became } = await waiting({ agent, heard }, sessionId);
    await agent.notify("session/cancel", { sessionId });
    facts["session/cancel"] = { stop: await became };
    facts["session/list"] = NOT_OFFERED;
    if (offered.list) facts["session/list"] = { cwd: (await listed(agent, sessionId))?.cwd ?? null };
    facts["session/close"] = NOT_OFFERED;
    if (offered.close) {
      await agent.request("session/close", { sessionId });
      const afterwards = agent.request("session/prompt", { sessionId, prompt: blocks("Hello") });
      facts["session/close"] = { afterwards: await code(afterwards) };
    }
  });
  await connect(plan.agent, async ({ agent, heard }) => {
    await agent.request("initialize", opening);
    facts["session/load"] = NOT_OFFERED;
    if (offered.load) facts["session/load"] = await comeBack({ agent, heard }, load(sessionId));
  });
  await connect(plan.agent, async ({ agent, heard }) => {
    await agent.request("initialize", opening);
    facts["session/resume"] = facts["session/delete"] = NOT_OFFERED;
    if (offered.resume) facts["session/resume"] = await comeBack({ agent, heard }, resume(sessionId));
    if (offered.delete) {
      await agent.request("session/delete", { sessionId });
      const afterwards = await code(agent.request(...load(sessionId)));
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
  await connect(plan.agent, async ({ agent, heard, child }) => {
    await agent.request("initialize", opening);
    const { sessionId } = await agent.request("session/new", place);
    const { became } = await waiting({ agent, heard }, sessionId);
    child.kill("SIGKILL");
    facts["the agent dies in a prompt"] = { failed: await became.then(() => false, () => true) };
  });
}

// The code that a request is answered with; 0 for no error.
const code = (request) => request.then(() => 0, (error) => error.code ?? null);

// What the agent has advertised, by our own names.
function capabilities({ agentCapabilities: first, capabilities: second }) {
  if (second) return { ...second.session.mcp, ...second.session, list: {}, resume: {}, close: {}, load: {} };
  return { stdio: true, ...first.mcpCapabilities, ...first.sessionCapabilities, load: first.loadSession };
}

const load = (sessionId) => plan.version === 1
  ? ["session/load", { sessionId, ...place }]
  : ["session/resume", { sessionId, ...place, replayFrom: { type: "start" } }];
const resume = (sessionId) => ["session/resume", { sessionId, ...place }];

// How a prompt ended: v1 says it in the answer, v2 by a state.
async function ended({ agent, heard }, sessionId, words) {
  const idle = new Promise((resolve) => (heard.idle = resolve));
  const { stopReason } = await agent.request("session/prompt", { sessionId, prompt: blocks(words) });
  if (plan.version === 1) return stopReason;
  const lost = heard.closed.then(() => { throw new Error("closed"); });
  return await Promise.race([idle, lost]);
}

// How a prompt ended, and what was said meanwhile.
async function ask({ agent, heard }, sessionId, words) {
  heard.updates.length = 0;
  const stop = await ended({ agent, heard }, sessionId, words);
  return { stop, said: heard.updates.flatMap(texts) };
}

// A prompt for which a tool is being called that waits, and what becomes of it.
async function waiting({ agent, heard }, sessionId) {
  const called = new Promise((resolve) => (heard.called = resolve));
  const became = ended({ agent, heard }, sessionId, plan.prompts.wait);
  became.catch(() => {});
  await called;
  return { became };
}

async function comeBack({ agent, heard }, request) {
  await agent.request(...request);
  const replay = heard.updates.flatMap(texts);
  return { replay, again: await ask({ agent, heard }, request[1].sessionId, plan.prompts.stdio) };
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
