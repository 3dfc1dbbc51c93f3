// The diagram: one row for each item, of which only those in sight are in the document.

const ROW = 34; // pixels, as --row in page.css
const GUTTER = 84;
const AHEAD = 12; // rows drawn above and below those in sight
const GAP = 1000; // milliseconds of silence that are worth telling

/** Items as rows. A response that directly follows its request is part of its row. */
function rowsOf(items) {
  const rows = [];
  for (const item of items) {
    const last = rows.at(-1);
    if (item.request && last?.item === item.request && !last.response) {
      last.response = item;
    } else {
      rows.push({ item, response: null, busy: {}, hit: false });
    }
    item.row = rows.length - 1;
  }
  markBusy(rows);
  return rows;
}

/** Note in each row which side has an open request there, and whether this begins or ends in it. */
function markBusy(rows) {
  let open = { client: 0, agent: 0 };
  for (const { item, response, busy } of rows) {
    const before = open;
    // A new connection has no open requests.
    open = item.kind === "request" && item.method === "initialize" ? { client: 0, agent: 0 } : { ...open };
    if (item.kind === "request" && !response && item.to in open) open[item.to]++;
    if (item.kind === "response" && item.request?.row >= 0) open[item.from]--;
    for (const side of ["client", "agent"]) {
      if (before[side] && open[side]) busy[side] = "through";
      else if (open[side]) busy[side] = "begins";
      else if (before[side]) busy[side] = "ends";
    }
  }
}

class Diagram {
  rows = [];
  selected = -1;

  #drawn = new Map(); // elements by the number of their row
  #x = {};
  #conversation;
  #scroller;
  #canvas;
  #head;

  constructor(scroller, head, onselect) {
    this.#scroller = scroller;
    this.#canvas = scroller.querySelector(".canvas");
    this.#head = head;
    scroller.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    scroller.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) onselect(Number(row.dataset.row));
    });
    new ResizeObserver(() => this.show(this.#conversation, this.rows)).observe(scroller);
  }

  /** Draw `rows`, which may be others than before. */
  show(conversation, rows) {
    if (!conversation) return;
    this.#conversation = conversation;
    this.rows = rows;
    this.#placeColumns(conversation);
    this.#canvas.style.height = `${rows.length * ROW}px`;
    for (const element of this.#drawn.values()) element.remove();
    this.#drawn.clear();
    this.draw();
  }

  /** Draw the rows in sight that are not drawn yet, and remove the others. */
  draw() {
    const [first, last] = this.inSight;
    const from = Math.max(0, first - AHEAD);
    const to = Math.min(this.rows.length, last + AHEAD);
    for (const [index, element] of this.#drawn) {
      if (index < from || index >= to) {
        element.remove();
        this.#drawn.delete(index);
      }
    }
    const added = document.createDocumentFragment();
    for (let index = from; index < to; index++) {
      if (this.#drawn.has(index)) continue;
      const element = this.#draw(index);
      this.#drawn.set(index, element);
      added.append(element);
    }
    this.#canvas.append(added);
    this.onsight?.();
  }

  get inSight() {
    const { scrollTop, clientHeight } = this.#scroller;
    return [Math.floor(scrollTop / ROW), Math.ceil((scrollTop + clientHeight) / ROW)];
  }

  get isAtEnd() {
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller;
    return scrollTop + clientHeight >= scrollHeight - ROW;
  }

  get pageSize() {
    return Math.max(1, Math.floor(this.#scroller.clientHeight / ROW) - 1);
  }

  select(index) {
    const [before, after] = [this.#drawn.get(this.selected), this.#drawn.get(index)];
    before?.setAttribute("aria-selected", "false");
    after?.setAttribute("aria-selected", "true");
    this.selected = index;
    if (index >= 0) this.#scroller.setAttribute("aria-activedescendant", `row-${index}`);
    else this.#scroller.removeAttribute("aria-activedescendant");
  }

  /** Scroll so that a row is in sight; in the middle if it was far away. */
  reveal(index, { middle = false } = {}) {
    const [first, last] = this.inSight;
    const top = index * ROW;
    const { clientHeight } = this.#scroller;
    if (middle || index < first - 1 || index > last) this.#scroller.scrollTop = top - clientHeight / 2 + ROW;
    else if (index <= first) this.#scroller.scrollTop = top;
    else if (index >= last - 2) this.#scroller.scrollTop = top - clientHeight + 2 * ROW;
    this.draw();
  }

  #placeColumns({ columns, names }) {
    const width = this.#scroller.clientWidth;
    const servers = columns.length - 2;
    const lane = servers ? Math.max(32, Math.min(96, (width * 0.35) / servers)) : 0;
    const agent = Math.max(GUTTER + 110, width - 44 - lane * servers);
    columns.forEach((column, index) => {
      this.#x[column] = index === 0 ? GUTTER + 20 : agent + (index - 1) * lane;
    });
    const heads = columns.map((column, index) => {
      const kind = ["client", "agent"][index] ?? "MCP server";
      const name = names[column];
      const head = element(
        "div",
        { class: `column ${index < 2 ? kind : "server"}`, title: visible(name) },
        element("small", {}, kind),
        element("bdi", {}, ...shown(name === kind ? "" : name)),
      );
      head.style.left = `${this.#x[column]}px`;
      head.style.setProperty("--lane", `${index > 0 && lane ? lane - 8 : 220}px`);
      return head;
    });
    this.#head.replaceChildren(...heads);
    const lines = columns.map((column) => {
      const line = element("div", { class: "lifeline" });
      line.style.left = `${this.#x[column]}px`;
      return line;
    });
    this.#canvas.querySelectorAll(".lifeline").forEach((line) => line.remove());
    this.#canvas.prepend(...lines);
  }

  #draw(index) {
    const { item, response, busy, hit } = this.rows[index];
    const findings = response ? [...item.findings, ...response.findings] : item.findings;
    const severity = SEVERITIES.find((each) => findings.some((finding) => finding.severity === each));
    const row = element("div", {
      id: `row-${index}`,
      class: `row ${item.kind} ${item.update ?? ""} ${item.from}`,
      role: "option",
      "aria-selected": String(index === this.selected),
      "aria-posinset": index + 1,
      "aria-setsize": this.rows.length,
      "data-row": index,
    });
    row.style.top = `${index * ROW}px`;
    if (hit) row.classList.add("hit");
    if (severity) row.classList.add(severity);
    if (item.failed || response?.failed) row.classList.add("failed");
    if (item.isOpen) row.classList.add("open");
    row.append(this.#time(index, item));
    if (item.session !== undefined && this.#conversation.sessions.size > 1) {
      const mark = element("i", { class: "session" });
      mark.style.setProperty("--hue", this.#conversation.sessions.get(item.session).hue);
      row.append(mark);
    }
    for (const [side, part] of Object.entries(busy)) {
      const bar = element("i", { class: `busy ${part}` });
      bar.style.left = `${this.#x[side]}px`;
      row.append(bar);
    }
    if (item.from !== item.to) row.append(this.#arrow(item, response));
    row.append(this.#label(item, response, findings, severity));
    return row;
  }

  #time(index, item) {
    const { start } = this.#conversation;
    const before = this.rows[index - 1];
    const quiet = before && item.at - (before.response ?? before.item).until;
    return element(
      "span",
      { class: "time" },
      item.at === undefined ? element("span", { class: "line-number" }, `line ${item.line}`) : clock(item.at - start),
      quiet >= GAP ? element("small", {}, `+${duration(quiet)}`) : null,
    );
  }

  #arrow(item, response) {
    const [from, to] = [this.#x[item.from], this.#x[item.to]];
    const arrow = element("i", { class: `arrow ${from < to ? "right" : "left"}${response ? " both" : ""}` });
    arrow.style.left = `${Math.min(from, to)}px`;
    arrow.style.width = `${Math.abs(to - from)}px`;
    return arrow;
  }

  #label(item, response, findings, severity) {
    const { client, agent } = this.#x;
    const between = agent - client - 28;
    const isNarrow = between < 180; // then labels reach over the columns of servers
    const label = element("span", { class: isNarrow ? "label narrow" : "label" });
    label.style.left = `${client + 14}px`;
    label.style.width = `${isNarrow ? this.#scroller.clientWidth - client - 20 : between}px`;
    const text = item.brief || preview(item.text);
    label.append(element("b", {}, ...shown(item.label)));
    if (item.kind === "receipt") label.prepend(element("bdi", { class: "server" }, ...shown(this.#conversation.names[item.to])));
    if (item.count > 1) label.append(element("span", { class: "count" }, `×${item.count.toLocaleString("en")}`));
    if (text) label.append(element("bdi", { class: "brief" }, ...shown(text)));
    if (response?.brief) label.append(element("bdi", { class: "brief response" }, ...shown(response.brief)));
    if (item.isOpen) label.append(element("span", { class: "badge open" }, "no response"));
    const took = item.kind === "response" || response ? (response ?? item).took : undefined;
    if (took !== undefined) label.append(element("span", { class: "took" }, duration(took)));
    if (findings.length) {
      const more = findings.length > 1 ? ` +${findings.length - 1}` : "";
      label.append(element("span", { class: `badge ${severity}` }, findings[0].rule + more));
    }
    return label;
  }
}
