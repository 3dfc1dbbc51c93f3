// The conversation: rows of the recording become items, which are what is drawn.

/**
 * One thing to draw: a request, a response, an update or several chunks of one, lines of standard error, an event.
 * `rows` are the lines of the recording in it, as JSON; they are parsed again when the item is opened.
 */
class Item {
  rows = [];
  findings = [];
  text = ""; // the joined text of chunks, or of standard error
  request = null; // of a response
  response = null; // of a request
  row = -1; // its place among those that are drawn

  constructor(kind, from, to, row) {
    Object.assign(this, { kind, from, to, line: row.line, at: row.time, until: row.time });
  }

  /** Milliseconds from the request to its response; undefined if one of them or a time is missing. */
  get took() {
    const [request, response] = this.kind === "response" ? [this.request, this] : [this, this.response];
    return request?.at === undefined || response?.at === undefined ? undefined : response.at - request.at;
  }

  get isOpen() {
    return this.kind === "request" && !this.response;
  }

  get severity() {
    return SEVERITIES.find((each) => this.findings.some((finding) => finding.severity === each));
  }

  contains(needle) {
    return needle.test(this.text) || needle.test(this.label) || this.rows.some((row) => needle.test(sentIn(row)));
  }
}

const SEVERITIES = ["error", "warning", "info"];
const OTHER = { client: "agent", agent: "client" };

class Conversation {
  items = [];
  findings = [];
  sessions = new Map(); // id → { id, hue, cwd, title, messages }
  columns = ["client", "agent"];
  names = { client: "client", agent: "agent" };
  messages = 0;
  version = undefined;
  start = undefined; // the time of the first line, in milliseconds
  end = undefined;

  #open = new Map(); // requests without a response, by sender and id
  #last = new Map(); // the last item of each session, to which a chunk may be added
  #tools = new Map(); // titles of tool calls
  #lines = new Map(); // items by the number of a line

  /** Add one row, which is JSON: a line of the recording or a finding. */
  add(text) {
    const row = JSON.parse(text);
    if (row.finding) return this.#find(row.finding);
    if (row.time !== undefined) {
      this.start = Math.min(this.start ?? row.time, row.time);
      this.end = Math.max(this.end ?? row.time, row.time);
    }
    const item = this.#read(row);
    item.rows.push(text);
    item.until = row.time ?? item.until;
    this.#lines.set(row.line, item);
  }

  itemOf(line) {
    return this.#lines.get(line);
  }

  /** Requests without a response, in their order. */
  get unanswered() {
    return this.items.filter((item) => item.isOpen);
  }

  #find(finding) {
    const item = this.#lines.get(finding.line);
    this.findings.push({ ...finding, item });
    item?.findings.push(this.findings.at(-1));
  }

  #read(row) {
    if (row.message !== undefined) {
      this.messages++;
      return this.#message(row, row.message);
    }
    if (row.receipt) return this.#receipt(row);
    if (row.end) return this.#push(new Item("end", "agent", "agent", row), "agent ended", statusOf(row.end));
    if (row.dropped) {
      const side = row.dropped.from === "client" ? "client" : "agent";
      return this.#push(new Item("dropped", side, side, row), "not recorded", counted(Number(row.dropped.bytes), "byte"));
    }
    const kind = row.stderr === undefined ? "text" : "stderr";
    const last = this.items.at(-1);
    if (last?.kind === kind && last.from === row.from) {
      last.text += `\n${row.stderr ?? row.text}`;
      last.count++;
      return last;
    }
    const from = row.from ?? "agent";
    const item = this.#push(new Item(kind, from, from, row), kind === "text" ? "not JSON" : "stderr");
    item.text = row.stderr ?? row.text;
    item.count = 1;
    return item;
  }

  #message(row, message) {
    const { method, id } = Object(message);
    const params = Object(message?.params);
    const from = row.from ?? "client";
    if (method === undefined) return this.#response(row, from, message);
    if (method === "initialize" && id !== undefined) this.#open.clear(); // a new connection begins
    const kind = id === undefined ? "notice" : "request";
    const session = idOf(params.sessionId);
    if (method === "session/update") return this.#update(row, from, session, Object(params.update));
    const item = new Item(kind, from, OTHER[from], row);
    item.method = method;
    if (kind === "request") this.#open.set(keyOf(from, id), item);
    if (method === "initialize") this.#introduce("client", params.clientInfo ?? params.info);
    return this.#push(item, method, briefOf(method, params, this.#tools), session);
  }

  #response(row, from, message) {
    const { id, result, error } = Object(message);
    const key = keyOf(OTHER[from], id);
    const request = this.#open.get(key) ?? null;
    this.#open.delete(key);
    const item = new Item("response", from, OTHER[from], row);
    if (request) request.response = item;
    Object.assign(item, { request, method: request?.method, failed: error != null });
    if (item.method === "initialize") {
      this.version = result?.protocolVersion;
      this.#introduce("agent", result?.agentInfo ?? result?.info);
    }
    const session = request?.session ?? idOf(result?.sessionId);
    if (request && session && !request.session) {
      request.session = session; // of a new session, the id is only in the response
      this.#session(session).messages++;
    }
    if (session && /^session\/(new|load|resume|fork)$/.test(item.method)) {
      this.#session(session).cwd ??= paramsOf(request).cwd;
    }
    const label = request ? item.method : "response to nothing";
    return this.#push(item, label, error != null ? briefOfError(error) : briefOfResult(item.method, result), session);
  }

  #update(row, from, session, update) {
    const kind = String(update.sessionUpdate);
    const isChunk = kind.endsWith("_chunk");
    const key = `${kind} ${isChunk ? (update.messageId ?? "") : ""}${update.toolCallId ?? update.terminalId ?? ""}`;
    const text = textOf(isChunk ? (update.content ?? update) : update.output);
    const last = this.#last.get(session);
    const joins = isChunk || kind === "tool_call_update" || kind === "usage_update";
    if (joins && last?.key === key && last.from === from) {
      last.text += text;
      last.count++;
      this.#session(session).messages++;
      if (!isChunk) last.brief = briefOfUpdate(kind, update, this.#tools);
      return last;
    }
    const item = new Item("update", from, OTHER[from], row);
    Object.assign(item, { method: "session/update", key, update: kind, text, count: 1 });
    if (kind === "session_info_update" && update.title) this.#session(session).title = update.title;
    const label = kind.replace(/_(chunk|update)$/, "").replaceAll("_", " ");
    return this.#push(item, label, isChunk ? "" : briefOfUpdate(kind, update, this.#tools), session);
  }

  #receipt(row) {
    const { server, event } = row.receipt;
    const name = `mcp:${server}`;
    if (!this.columns.includes(name)) {
      this.columns.push(name);
      this.names[name] = String(server);
    }
    const item = new Item("receipt", "agent", name, row);
    item.failed = event === "failed";
    return this.#push(item, String(event), briefOfReceipt(row.receipt));
  }

  #push(item, label, brief = "", session = undefined) {
    Object.assign(item, { label: String(label), brief: String(brief ?? ""), session });
    this.items.push(item);
    if (session !== undefined) {
      this.#session(session).messages++;
      this.#last.set(session, item);
    }
    return item;
  }

  #session(id) {
    if (!this.sessions.has(id)) {
      // Hues by the golden angle, so that any number of them differ.
      const hue = (25 + this.sessions.size * 137.5) % 360;
      this.sessions.set(id, { id, hue, cwd: undefined, title: undefined, messages: 0 });
    }
    return this.sessions.get(id);
  }

  #introduce(side, info) {
    const name = info?.title ?? info?.name;
    if (typeof name === "string") this.names[side] = info.version ? `${name} ${info.version}` : name;
  }
}

const HEAD = /^\{"line":\d+(?:,"time":[^,]+)?(?:,"from":"\w+")?,"\w+":/;

/** The JSON of a message or an event in a row, not parsed, because numbers would lose their digits. */
const sentIn = (row) => row.slice(HEAD.exec(row)[0].length, -1);

const idOf = (value) => (value === undefined ? undefined : String(value));
const keyOf = (sender, id) => `${sender} ${JSON.stringify(id)}`;
const paramsOf = (item) => Object(JSON.parse(item.rows[0]).message.params);
