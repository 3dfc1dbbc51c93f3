// What a message says, in a few words. Anything may be missing or of another type: it is what a peer has sent.

/** The text in content blocks; other kinds of content by their name. */
function textOf(content) {
  if (Array.isArray(content)) return content.map(textOf).join(" ");
  if (typeof content === "string") return content;
  const { type, text, uri, resource, content: inner, path, changes, terminalId, data } = Object(content);
  if (typeof text === "string") return text;
  if (inner !== undefined) return textOf(inner);
  if (type === "diff") return `[diff of ${path ?? list(changes).map((change) => Object(change).path).join(", ")}]`;
  if (data !== undefined) return type ? `[${type}]` : outputOf(data);
  if (terminalId) return `[terminal ${terminalId}]`;
  return type ? `[${type}${uri ?? resource?.uri ? ` ${uri ?? resource.uri}` : ""}]` : "";
}

/** The output of a terminal, which v2 sends as base64. */
function outputOf(data) {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(data), (byte) => byte.charCodeAt(0)));
  } catch {
    return String(data);
  }
}

const list = (value) => (Array.isArray(value) ? value : []);
const compact = (value) => (value === undefined ? "" : preview(JSON.stringify(value)));
const words = (...parts) => parts.filter((part) => part !== undefined && part !== null && part !== "").join(" · ");
const infoOf = (info) => words(info && [info.title ?? info.name, info.version].filter(Boolean).join(" "));

function briefOf(method, params, tools) {
  const p = Object(params);
  switch (method) {
    case "initialize":
      return words(`version ${p.protocolVersion}`, infoOf(p.clientInfo ?? p.info));
    case "session/new":
    case "session/load":
    case "session/resume":
    case "session/fork":
      return words(p.cwd, list(p.mcpServers).map((server) => Object(server).name).join(", "));
    case "session/prompt":
      return preview(textOf(p.prompt));
    case "session/request_permission":
      return words(
        Object(p.toolCall).title ?? tools.get(Object(p.toolCall).toolCallId) ?? p.title,
        list(p.options).map((option) => Object(option).name).join(" / "),
      );
    case "session/cancel":
      return "";
    case "fs/read_text_file":
      return words(p.path, p.line && `from line ${p.line}`, p.limit && `${p.limit} lines`);
    case "fs/write_text_file":
      return words(p.path, typeof p.content === "string" && counted(p.content.length, "character"));
    case "terminal/create":
      return [p.command, ...list(p.args)].join(" ");
    case "session/set_mode":
      return String(p.modeId);
    case "session/set_config_option":
      return `${p.configId} = ${compact(p.value)}`;
    case "authenticate":
      return String(p.methodId);
    default: {
      const { sessionId, ...rest } = p;
      return p.terminalId ?? (Object.keys(rest).length ? compact(rest) : "");
    }
  }
}

function briefOfResult(method, result) {
  const r = Object(result);
  switch (method) {
    case "initialize":
      return words(`version ${r.protocolVersion}`, infoOf(r.agentInfo ?? r.info));
    case "session/new":
      return r.sessionId;
    case "session/prompt":
      return r.stopReason ?? "";
    case "session/request_permission":
      return words(Object(r.outcome).outcome, Object(r.outcome).optionId);
    case "session/list":
      return counted(list(r.sessions).length, "session");
    case "fs/read_text_file":
      return typeof r.content === "string" ? counted(r.content.length, "character") : "";
    case "terminal/output":
    case "terminal/wait_for_exit":
      return words(statusOf(r.exitStatus ?? r), preview(String(r.output ?? ""), 80));
    default:
      return Object.keys(r).length ? compact(result) : "";
  }
}

const briefOfError = (error) => words(Object(error).code, Object(error).message ?? compact(error));

function briefOfUpdate(kind, update, tools) {
  switch (kind) {
    case "tool_call":
    case "tool_call_update":
      if (typeof update.title === "string") tools.set(update.toolCallId, update.title);
      return words(
        update.title ?? tools.get(update.toolCallId) ?? update.toolCallId,
        update.status?.replaceAll?.("_", " "),
        preview(textOf(list(update.content)), 120),
      );
    case "plan":
    case "plan_update": {
      const entries = list(update.entries ?? update.plan?.entries).map(Object);
      const done = entries.filter((entry) => entry.status === "completed").length;
      return words(`${done} of ${entries.length} done`, entries.find((entry) => entry.status === "in_progress")?.content);
    }
    case "available_commands_update":
      return list(update.availableCommands).map((command) => `/${Object(command).name}`).join(" ");
    case "current_mode_update":
      return String(update.currentModeId ?? update.modeId);
    case "usage_update":
      return words(`${update.used?.toLocaleString?.("en")} of ${update.size?.toLocaleString?.("en")} tokens`);
    case "terminal_update":
      return words(update.command, statusOf(update.exitStatus), preview(textOf(update.output), 80));
    case "state_update":
      return words(update.state, update.stopReason);
    case "agent_message":
    case "agent_thought":
    case "user_message":
      return preview(textOf(update.content));
    default: {
      const { sessionUpdate, ...rest } = update;
      return update.message ?? update.title ?? compact(rest);
    }
  }
}

function briefOfReceipt({ server, event, ...facts }) {
  const { tool, name, code, message, reason, seconds, tools, ...rest } = facts;
  const offered = tools === undefined ? "" : counted(Array.isArray(tools) ? tools.length : Number(tools), "tool");
  return words(tool ?? name, offered, code, message ?? reason, Object.keys(rest).length ? compact(rest) : "");
}

function statusOf(end) {
  const { exitStatus, exitCode, signal } = Object(end);
  if (signal) return `signal ${signal}`;
  const status = exitStatus ?? exitCode;
  return typeof status === "number" ? `exit status ${status}` : "";
}
