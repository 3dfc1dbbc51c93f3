// The page: reads the rows, and connects search, filters and keys with diagram, timeline and panel.

const $ = (selector) => document.querySelector(selector);

const KINDS = {
  requests: (item) => item.kind === "request" || item.kind === "response",
  updates: (item) => item.kind === "update",
  stderr: (item) => item.kind === "stderr",
  servers: (item) => item.kind === "receipt",
};

const conversation = new Conversation();
const diagram = new Diagram($("#diagram"), $("#columns"), (row) => openItem(diagram.rows[row].item));
const timeline = new Timeline($("#timeline"), (row) => diagram.reveal(row, { middle: true }));
const panel = new Panel($("#panel"), { onopen: openItem, onsession: chooseSession });
diagram.onsight = () => timeline.see(diagram.inSight);

let opened = null; // the item in the panel
let needle = null; // what is searched for

/** Draw everything again, after new rows or another filter. */
function refresh() {
  const session = $("#session").value;
  const hidden = [...document.querySelectorAll("#kinds input:not(:checked)")].map((box) => KINDS[box.value]);
  for (const item of conversation.items) item.row = -1;
  const rows = rowsOf(
    conversation.items.filter(
      (item) =>
        (!session || item.session === undefined || item.session === session) && !hidden.some((hides) => hides(item)),
    ),
  );
  diagram.selected = opened?.row ?? -1;
  search(rows);
  diagram.show(conversation, rows);
  timeline.show(conversation, rows);
  timeline.see(diagram.inSight);
}

/** Summarize the conversation above everything. */
function summarize() {
  const { findings, messages, sessions, start, end, version } = conversation;
  const count = (severity) => findings.filter((finding) => finding.severity === severity).length;
  const [errors, warnings] = [count("error"), count("warning")];
  const verdict = [errors && counted(errors, "error"), warnings && counted(warnings, "warning")].filter(Boolean);
  $("#verdict").textContent = verdict.join(" and ") || "Nothing wrong";
  $("#verdict").className = errors ? "error" : warnings ? "warning" : "fine";
  const open = conversation.unanswered.length;
  $("#figures").textContent = [
    counted(messages, "message"),
    counted(sessions.size, "session"),
    end > start && duration(end - start),
    open && `${open} without a response`,
    version !== undefined && `ACP v${version}`,
  ]
    .filter(Boolean)
    .join(" · ");
  const chosen = $("#session").value;
  const options = [...sessions.values()].map(({ id, title, cwd }) =>
    element("option", { value: id }, visible(preview([title, id, cwd].filter(Boolean).join(" · "), 60))),
  );
  $("#session").replaceChildren(element("option", { value: "" }, "All sessions"), ...options);
  $("#session").value = chosen;
  $("#session").hidden = sessions.size < 2;
  for (const label of document.querySelectorAll("#kinds label")) {
    label.hidden = !conversation.items.some(KINDS[label.querySelector("input").value]);
  }
}

/** Open an item in the panel and show where it is; null for the overview. */
function openItem(item, { middle = false } = {}) {
  opened = item;
  if (item === null) {
    diagram.select(-1);
    panel.overview(conversation);
    history.replaceState(null, "", " ");
    return;
  }
  if (item.row < 0) showAll();
  diagram.select(item.row);
  diagram.reveal(item.row, { middle });
  panel.item(item, conversation);
  highlight($("#panel"), needle);
  history.replaceState(null, "", `#line-${item.line}`);
}

function showAll() {
  $("#session").value = "";
  for (const box of document.querySelectorAll("#kinds input")) box.checked = true;
  refresh();
}

function chooseSession(id) {
  $("#session").value = id;
  refresh();
}

/** Mark the rows that contain what is searched for. */
function search(rows = diagram.rows) {
  const contains = ({ item, response }) => item.contains(needle) || response?.contains(needle);
  for (const row of rows) row.hit = needle !== null && Boolean(contains(row));
  const hits = rows.filter((row) => row.hit).length;
  $("#hits").textContent = needle === null ? "" : hits ? counted(hits, "place") : "not found";
}

/** The pattern for a text, as it is and as JSON has it. */
function patternFor(text) {
  const json = JSON.stringify(text).slice(1, -1).replace(/[<>&]/g, escapeOf);
  const quoted = [...new Set([text, json])].map((each) => each.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(quoted.join("|"), "i");
}

/** Open the next row, or the previous one, for which `wanted` is true; from the end it goes on at the beginning. */
function step(forward, wanted) {
  const { rows, selected } = diagram;
  const begin = selected >= 0 ? selected : forward ? -1 : rows.length;
  for (let steps = 1; steps <= rows.length; steps++) {
    const index = (begin + (forward ? steps : -steps) + 2 * rows.length) % rows.length;
    if (wanted(rows[index])) return openItem(rows[index].item);
  }
}

function move(by) {
  const { selected, inSight } = diagram;
  goTo(selected >= 0 ? selected + by : inSight[0]);
}

function goTo(index) {
  const { rows } = diagram;
  if (rows.length) openItem(rows[Math.max(0, Math.min(rows.length - 1, index))].item);
}

const ACTIONS = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  PageDown: () => move(diagram.pageSize),
  PageUp: () => move(-diagram.pageSize),
  Home: () => goTo(0),
  End: () => goTo(Infinity),
  n: () => step(true, isFound),
  p: () => step(false, isFound),
  r: () => opened && (opened.response ?? opened.request) && openItem(opened.response ?? opened.request),
  "/": () => $("#search").select(),
  Escape: () => openItem(null),
};

const isFound = ({ item, response }) => [item, response].some((each) => /error|warning/.test(each?.severity));

document.addEventListener("keydown", (event) => {
  const isModified = event.ctrlKey || event.metaKey || event.altKey;
  const isElsewhere = event.target.closest("input, select, #panel") && event.key !== "Escape";
  const action = ACTIONS[event.key];
  if (!action || isModified || isElsewhere) return;
  event.preventDefault();
  if (event.key !== "/") $("#diagram").focus({ preventScroll: true });
  action();
});

let typing = 0; // a timer, so that not every key searches

function find() {
  clearTimeout(typing);
  const text = $("#search").value;
  const found = text ? patternFor(text) : null;
  if (String(found) === String(needle)) return;
  needle = found;
  refresh();
}

$("#search").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(find, 150);
});
$("#search").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  find();
  step(!event.shiftKey, (row) => row.hit);
});
$("#session").addEventListener("change", refresh);
$("#kinds").addEventListener("change", refresh);

/** Add rows, in growing portions, so that the first ones are drawn long before the last ones are read. */
async function read(rows) {
  for (let from = 0, portion = 2000; from < rows.length; from += portion, portion = 25000) {
    if (from) await new Promise((done) => setTimeout(done));
    for (const row of rows.slice(from, from + portion)) conversation.add(row);
    update();
  }
}

let known = ""; // of the opened item, what the panel shows

function update() {
  const follows = live && diagram.isAtEnd && !opened;
  summarize();
  refresh();
  const now = opened && `${opened.rows.length} ${opened.response?.line} ${opened.findings.length}`;
  if (!opened) panel.overview(conversation);
  else if (now !== known) panel.item(opened, conversation);
  known = now;
  if (follows) diagram.reveal(diagram.rows.length - 1);
}

const live = document.documentElement.dataset.live;
const line = /^#line-(\d+)$/.exec(location.hash)?.[1];

if (live) {
  const source = new EventSource(live);
  let waiting = 0;
  source.onmessage = ({ data }) => {
    for (const row of data.split("\n")) conversation.add(row);
    // Not for each message: a long conversation takes some milliseconds to draw.
    waiting ||= setTimeout(() => {
      waiting = 0;
      update();
    }, 100);
  };
  source.addEventListener("again", () => location.reload()); // the file was replaced
  source.onopen = () => ($("#live").textContent = "live");
  source.onerror = () => ($("#live").textContent = "not connected");
} else {
  const rows = $("#rows").textContent.trim();
  $("#rows").remove();
  read(rows ? rows.split("\n") : []).then(() => {
    const item = conversation.itemOf(Number(line));
    if (item) openItem(item, { middle: true });
  });
}
