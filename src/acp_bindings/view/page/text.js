// How text, numbers and JSON are shown.

// Characters that move or hide others, or that cannot be seen: controls, bidi and zero-width characters, tags, private
// and unassigned ones, lone surrogates. A joiner inside an emoji and a variation selector are part of what is seen.
const UNSEEN =
  /(?<=\p{Extended_Pictographic}\p{M}*)\u200d(?=\p{Extended_Pictographic})|[\ufe0e\ufe0f]|([^\P{C}\n\t]|[\p{DI}\p{Zl}\p{Zp}\u2800])/gu;

/** The text with an escape such as \u202e in place of each character that is not seen as itself. */
function visible(text) {
  return text.replace(UNSEEN, (same, unseen) => (unseen ? escapeOf(unseen) : same));
}

function escapeOf(character) {
  const code = character.codePointAt(0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}

/** Nodes for what a peer has sent, in which escapes are set apart from what was sent. */
function shown(value) {
  const text = String(value);
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (!found[1]) continue;
    nodes.push(text.slice(from, found.index), element("span", { class: "escape" }, escapeOf(found[1])));
    from = found.index + found[0].length;
  }
  nodes.push(text.slice(from));
  return nodes;
}

/** A new element. Children that are strings become text, never markup. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

const counted = (number, word, words = `${word}s`) => `${number.toLocaleString("en")} ${number === 1 ? word : words}`;

/** Milliseconds as a duration: `12 ms`, `1.24 s`, `3 min 20 s`. */
function duration(milliseconds) {
  if (milliseconds < 1) return "< 1 ms";
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const [minutes, rest] = [Math.floor(Math.round(seconds) / 60), Math.round(seconds) % 60];
  return minutes < 60 ? `${minutes} min ${rest} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A round duration on a scale: `0`, `200 ms`, `5 s`, `1 min 10 s`, `2 min`. */
function rounded(milliseconds) {
  if (milliseconds >= 6e4) return duration(milliseconds).replace(/ 0 \w+$/, "");
  const [size, unit] = milliseconds >= 1e3 ? [1e3, "s"] : [1, "ms"];
  return milliseconds ? `${milliseconds / size} ${unit}` : "0";
}

/** Milliseconds since the beginning as a clock: `0.000`, `1:02.345`, `2:01:02.345`. */
function clock(milliseconds) {
  const whole = Math.round(milliseconds);
  const [hours, minutes] = [Math.floor(whole / 3600000), Math.floor(whole / 60000) % 60];
  const seconds = ((whole % 60000) / 1000).toFixed(3);
  if (!hours && !minutes) return seconds;
  const padded = seconds.padStart(6, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${padded}` : `${minutes}:${padded}`;
}

/** The first `most` characters of a text on one line, for a preview. */
function preview(text, most = 240) {
  const line = text.slice(0, 2 * most).replace(/[ \t\r\n]+/g, " ").replace(/^ | $/g, "");
  return line.length > most || text.length > 2 * most ? `${line.slice(0, most)}…` : line;
}

const LONG = 2000; // characters of a text that are shown before the rest is asked for

/** Long text with a button that shows the rest. */
function cut(text) {
  if (text.length <= LONG + LONG / 4) return shown(text);
  const more = element("button", { class: "more" }, `… ${counted(text.length - LONG, "character")} more`);
  more.addEventListener("click", () => more.replaceWith(...shown(text.slice(LONG))));
  return [...shown(text.slice(0, LONG)), more];
}

/** JSON with an indent, in which numbers keep their digits. `marked` maps paths to findings at these places. */
function jsonTree(text, marked = new Map()) {
  const parsed = JSON.parse(text, (_, value, context) =>
    typeof value === "number" && context?.source ? new Digits(context.source) : value,
  );
  const tree = element("div", { class: "json" });
  write(tree, parsed, [], 0, "", "");
  return tree;

  function write(into, value, path, depth, before, after) {
    const line = element("div", { class: "line" });
    line.style.setProperty("--depth", depth);
    for (const finding of marked.get(path.join("\0")) ?? []) line.classList.add("marked", finding.severity);
    if (before) line.append(...before);
    into.append(line);
    const isList = Array.isArray(value);
    if (!isList && (value === null || typeof value !== "object" || value instanceof Digits)) {
      line.append(scalar(value), after);
      return;
    }
    const keys = Object.keys(value);
    const [opening, closing] = isList ? "[]" : "{}";
    if (!keys.length) {
      line.append(opening + closing + after);
      return;
    }
    line.append(opening);
    keys.forEach((key, index) => {
      const name = isList ? null : [element("span", { class: "key" }, ...shown(JSON.stringify(key))), ": "];
      write(into, value[key], [...path, key], depth + 1, name, index < keys.length - 1 ? "," : "");
    });
    const last = element("div", { class: "line" }, closing + after);
    last.style.setProperty("--depth", depth);
    into.append(last);
  }

  function scalar(value) {
    if (value instanceof Digits) return element("span", { class: "number" }, value.digits);
    if (typeof value !== "string") return element("span", { class: "word" }, String(value));
    // Line breaks of a text are shown as such: that is what one reads it for.
    const lines = JSON.stringify(value).slice(1, -1).replaceAll("\\n", "\\n\n").replaceAll('\\"', '"');
    return element("span", { class: "string" }, '"', ...cut(lines), '"');
  }
}

class Digits {
  constructor(digits) {
    this.digits = digits;
  }
}
