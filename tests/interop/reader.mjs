// Reads ACP messages with the zod schemas of the TypeScript SDK, for typescript.py.
//
// A line of JSON on stdin asks about messages: {"package": "v1", "definition": "SessionId", "texts": ["\"s\"", …]}.
// A line of JSON on stdout has a verdict on each, {"read": …} or {"refused": [why, …]}; null: there is no such schema.

import { createInterface } from "node:readline";

// The package exports its protocol modules, not the schemas that these read with, which stand beside them.
const stable = import.meta.resolve("@agentclientprotocol/sdk");
const schemas = {
  v1: await import(new URL("../schema/zod.gen.js", stable)),
  v1_unstable: await import(new URL("../unstable/schema/zod.gen.js", stable)),
  v2: await import(new URL("../../v2/schema/zod.gen.js", stable)),
  v2_unstable: await import(new URL("../../v2/unstable/schema/zod.gen.js", stable)),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { package: name, definition, texts } = JSON.parse(line);
  const schema = schemas[name][`z${definition}`];
  const answer = schema ? texts.map((text) => verdict(schema, text)) : null;
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

function verdict(schema, text) {
  let message;
  try {
    message = JSON.parse(text);
  } catch (error) {
    return { refused: [error.message] };
  }
  const { success, data, error } = schema.safeParse(message);
  if (success) return { read: data };
  return { refused: error.issues.map(({ path, message: why }) => `${path.join("/") || "(root)"}: ${why}`) };
}
