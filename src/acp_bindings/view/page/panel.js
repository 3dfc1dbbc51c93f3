// The panel beside the diagram: what went wrong and where, or one message.

const SLOWEST = 8;
const MOST = 100; // messages of an item, or findings, that are listed before the rest is asked for

class Panel {
  #panel;
  #onopen;
  #onsession;

  constructor(panel, { onopen, onsession }) {
    this.#panel = panel;
    this.#onopen = onopen;
    this.#onsession = onsession;
  }

  /** Show what to look at first. */
  overview(conversation) {
    const { findings, unanswered, items, sessions } = conversation;
    const slow = items.filter((item) => item.kind === "request" && item.took >= 1);
    slow.sort((one, other) => other.took - one.took);
    const longest = slow[0]?.took;
    this.#show(
      "overview",
      this.#section("Findings", findings, "Nothing wrong was found.", (finding) =>
        this.#entry(
          finding.item,
          element("span", { class: `badge ${finding.severity}` }, finding.rule),
          element("span", { class: "message" }, ...shown(finding.message)),
          element("small", {}, placeOf(finding.item, conversation, finding.line)),
        ),
      ),
      this.#section("Without a response", unanswered, "", (item) =>
        this.#entry(
          item,
          element("b", {}, ...shown(item.label)),
          element("span", { class: "brief" }, ...shown(item.brief)),
          element("small", {}, placeOf(item, conversation)),
        ),
      ),
      this.#section("Slowest requests", slow.slice(0, SLOWEST), "", (item) => {
        const bar = element("span", { class: "bar" });
        bar.style.setProperty("--share", item.took / longest);
        const entry = this.#entry(
          item,
          element("b", {}, ...shown(item.label)),
          element("span", { class: "took" }, duration(item.took)),
          element("span", { class: "brief" }, ...shown(item.brief)),
          bar,
        );
        entry.classList.add("slow");
        return entry;
      }),
      this.#section("Sessions", [...sessions.values()], "", (session) => {
        const entry = element(
          "button",
          { class: "entry", onclick: () => this.#onsession(session.id) },
          element("i", { class: "session" }),
          element("b", {}, ...shown(session.title ?? session.id)),
          element("span", { class: "brief" }, ...shown(session.cwd ?? "")),
          element("small", {}, counted(session.messages, "message")),
        );
        entry.style.setProperty("--hue", session.hue);
        return entry;
      }),
      element(
        "section",
        { class: "keys" },
        element("h2", {}, "Keys"),
        element("dl", {}, ...KEYS.map(([key, what]) => element("div", {}, element("dt", {}, key), element("dd", {}, what)))),
      ),
    );
  }

  /** Show one item with its messages. */
  item(item, conversation) {
    const request = item.request ?? item;
    const { response } = request;
    const facts = [
      ["time", item.at === undefined ? undefined : `${clock(item.at - conversation.start)} · ${new Date(item.at).toISOString()}`],
      ["took", request.took === undefined ? undefined : duration(request.took)],
      ["lasted", item.until > item.at ? duration(item.until - item.at) : undefined],
      ["session", item.session],
    ];
    this.#show(
      "message",
      element("button", { class: "back", onclick: () => this.#onopen(null) }, "← Overview"),
      element("h2", {}, ...shown(item.label)),
      element("p", { class: "direction" }, ...directionOf(item, conversation)),
      element(
        "dl",
        { class: "facts" },
        facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, ...shown(value)))),
      ),
      ...[...request.findings, ...(response?.findings ?? [])].map((finding) =>
        element(
          "div",
          { class: `finding ${finding.severity}` },
          element("span", { class: `badge ${finding.severity}` }, finding.rule),
          element("p", {}, ...shown(finding.message)),
        ),
      ),
      item.text ? element("div", { class: "prose" }, ...cut(item.text)) : null,
      item.isOpen ? element("p", { class: "none" }, "This recording does not contain the response.") : null,
      this.#messages(request),
      response ? this.#messages(response) : null,
    );
  }

  #messages(item) {
    const several = item.rows.length > 1;
    return element(
      "section",
      { class: "messages" },
      ...this.#some(item.rows, (row) => {
        const { line, time } = JSON.parse(row);
        const body = element("div");
        const open = () => body.childElementCount || body.append(treeOf(row, item.findings));
        const title = `line ${line}${several && time !== undefined ? ` · +${duration(time - item.at)}` : ""}`;
        const details = element("details", { ontoggle: open }, element("summary", {}, title), body);
        if (!several || item.findings.some((finding) => finding.line === line)) {
          details.open = true;
          open();
        }
        return details;
      }),
    );
  }

  #section(title, entries, nothing, entry) {
    if (!entries.length && !nothing) return null;
    const number = entries.length ? element("span", { class: "count" }, entries.length.toLocaleString("en")) : null;
    return element(
      "section",
      {},
      element("h2", {}, title, " ", number),
      entries.length ? this.#some(entries, entry) : element("p", { class: "none" }, nothing),
    );
  }

  /** The first entries, with a button for the next ones. */
  #some(entries, made, from = 0) {
    const nodes = entries.slice(from, from + MOST).map(made);
    const left = entries.length - from - MOST;
    if (left > 0) {
      const more = element("button", { class: "more" }, `… ${left.toLocaleString("en")} more`);
      more.addEventListener("click", () => more.replaceWith(...this.#some(entries, made, from + MOST)));
      nodes.push(more);
    }
    return nodes;
  }

  #entry(item, ...children) {
    return element("button", { class: "entry", onclick: () => item && this.#onopen(item) }, ...children);
  }

  #show(kind, ...children) {
    const { className, scrollTop } = this.#panel;
    this.#panel.className = kind;
    this.#panel.replaceChildren(...children.flat().filter(Boolean));
    this.#panel.scrollTop = kind === "overview" && className === kind ? scrollTop : 0;
  }
}

const KEYS = [
  ["↑ ↓", "the message before or after"],
  ["n p", "the next or previous finding"],
  ["r", "from a request to its response, and back"],
  ["/", "search; Enter for the next place"],
  ["Esc", "back to this overview"],
];

function placeOf(item, conversation, line = item?.line) {
  if (!item) return "the whole recording";
  return item.at === undefined ? `line ${line}` : `${clock(item.at - conversation.start)} · line ${line}`;
}

function directionOf(item, { names }) {
  const side = (each) => element("bdi", { class: each }, ...shown(names[each]));
  return item.from === item.to ? [side(item.from)] : [side(item.from), " → ", side(item.to)];
}

/** Highlight what is searched for in the text of an element. */
function highlight(within, needle) {
  const ranges = [];
  const texts = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  while (needle && texts.nextNode()) {
    for (const { index, 0: found } of texts.currentNode.data.matchAll(new RegExp(needle, "gi"))) {
      const range = new Range();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + found.length);
      ranges.push(range);
    }
  }
  CSS.highlights?.set("hit", new Highlight(...ranges));
}

/** The JSON of a row of the recording, with the places of findings marked. */
function treeOf(row, findings) {
  const { line, text, stderr } = JSON.parse(row);
  if ((text ?? stderr) !== undefined) return element("div", { class: "prose" }, ...cut(text ?? stderr));
  const marked = Map.groupBy(
    findings.filter((finding) => finding.line === line),
    (finding) => finding.path.join("\0"),
  );
  return jsonTree(sentIn(row), marked);
}
