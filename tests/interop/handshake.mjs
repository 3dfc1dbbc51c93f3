// One side of `initialize` by the TypeScript SDK, over standard input and output: `handshake.mjs agent v1,v2` answers,
// and says in the answer's `_meta` what it has read; `handshake.mjs client v1` asks, and writes the outcome to stderr.

import { Readable, Writable } from "node:stream";

import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";

const [role, versions] = process.argv.slice(2);
const info = { name: "typescript", version: "1.0" };
const stream = (sdk) => sdk.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));

const agents = {
  v1: v1.agent({ name: "v1" }).onRequest("initialize", ({ params }) => ({
    protocolVersion: 1,
    agentCapabilities: { loadSession: true, mcpCapabilities: { http: true } },
    agentInfo: info,
    authMethods: [{ id: "browser", name: "Browser" }],
    _meta: { seen: params },
  })),
  v2: v2.agent({ name: "v2" }).onRequest("initialize", ({ params }) => ({
    protocolVersion: 2,
    capabilities: { session: { mcp: { http: {} } } },
    info,
    authMethods: [{ type: "agent", methodId: "browser", name: "Browser" }],
    _meta: { seen: params },
  })),
};

const clients = {
  v1: [v1, { protocolVersion: 1, clientCapabilities: { terminal: true, auth: { terminal: true } }, clientInfo: info }],
  v2: [v2, { protocolVersion: 2, capabilities: { auth: { terminal: {} } }, info }],
};

if (role === "agent") {
  if (versions === "v1" || versions === "v2") {
    agents[versions].connect(stream(versions === "v1" ? v1 : v2));
  } else {
    v2.agentProtocolRouter().withV1(agents.v1).withV2(agents.v2).connect(stream(v2));
  }
} else {
  const [sdk, params] = clients[versions];
  await sdk.client({ name: "client" }).connectWith(stream(sdk), async (agent) => {
    try {
      console.error(JSON.stringify({ result: await agent.request("initialize", params) }));
    } catch (error) {
      console.error(JSON.stringify({ error: { code: error.code, message: error.message, data: error.data } }));
    }
  });
}
