// The strip above the diagram: the whole conversation to scale, with what is in sight.

class Timeline {
  #canvas;
  #window;
  #places = new Float64Array(); // of each row, from 0 to 1
  #rows = [];
  #conversation;

  constructor(strip, onjump) {
    this.#canvas = strip.querySelector("canvas");
    this.#window = strip.querySelector(".window");
    const jump = (event) => {
      if (!event.buttons) return;
      const { left, width } = strip.getBoundingClientRect();
      onjump(this.#rowAt((event.clientX - left) / width));
    };
    strip.addEventListener("pointerdown", (event) => {
      strip.setPointerCapture(event.pointerId);
      jump(event);
    });
    strip.addEventListener("pointermove", jump);
    const redraw = () => this.#conversation && this.show(this.#conversation, this.#rows);
    new ResizeObserver(redraw).observe(strip);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }

  show(conversation, rows) {
    this.#conversation = conversation;
    this.#rows = rows;
    const { start, end } = conversation;
    const hasTimes = end > start;
    this.#places = new Float64Array(rows.length);
    rows.forEach(({ item }, index) => {
      const before = index ? this.#places[index - 1] : 0;
      const place = hasTimes ? (item.at - start) / (end - start) : index / Math.max(1, rows.length - 1);
      // Sorted, so that a place can be looked up, also where a clock was set back.
      this.#places[index] = place >= before ? place : before;
    });
    this.#draw(hasTimes ? end - start : 0);
  }

  /** Mark the part that is in sight. */
  see([first, last]) {
    const places = this.#places;
    if (!places.length) return;
    const from = places[Math.min(first, places.length - 1)];
    const to = places[Math.min(last, places.length) - 1];
    this.#window.style.left = `${from * 100}%`;
    this.#window.style.width = `${(to - from) * 100}%`;
  }

  #rowAt(place) {
    let [low, high] = [0, this.#places.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#places[middle] < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #draw(length) {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const scale = devicePixelRatio;
    Object.assign(this.#canvas, { width: width * scale, height: height * scale });
    const pen = this.#canvas.getContext("2d");
    pen.scale(scale, scale);
    const colours = getComputedStyle(this.#canvas);
    const colour = (name) => colours.getPropertyValue(`--${name}`);
    const x = (index) => Math.round(this.#places[index] * (width - 3));
    const bottom = height - 14;
    const middle = bottom / 2;

    pen.font = `11px ${colours.fontFamily}`;
    for (const tick of ticksOf(length, width / 110)) {
      const at = Math.round((tick / length) * (width - 3));
      pen.fillStyle = colour("rule");
      pen.fillRect(at, 0, 1, height);
      pen.fillStyle = colour("soft");
      if (at < width - 40) pen.fillText(rounded(tick), at + 4, height - 3);
    }

    // The turns of the agent, from each prompt to its response.
    pen.fillStyle = colour("turn");
    for (const { item } of this.#rows) {
      if (item.method !== "session/prompt" || item.kind !== "request") continue;
      const end = item.isOpen ? width : x(item.response.row >= 0 ? item.response.row : item.row);
      pen.fillRect(x(item.row), 2, Math.max(3, end - x(item.row) + 3), bottom - 4);
    }

    for (const severity of ["warning", "error"]) {
      pen.fillStyle = colour(severity);
      for (const { item, severity: its } of this.#conversation.findings) {
        if (its === severity && item?.row >= 0) pen.fillRect(x(item.row), 0, 3, bottom);
      }
    }

    // How many messages there are at each place, by their root: the client above the line, the agent below it.
    const counts = { client: new Map(), agent: new Map() };
    this.#rows.forEach(({ item, response }, index) => {
      for (const each of response ? [item, response] : [item]) {
        const side = counts[each.from];
        side?.set(x(index), (side.get(x(index)) ?? 0) + each.rows.length);
      }
    });
    let most = 1;
    for (const side of Object.values(counts)) for (const count of side.values()) most = Math.max(most, count);
    for (const [side, sign] of [["client", -1], ["agent", 1]]) {
      pen.fillStyle = colour(side);
      for (const [at, count] of counts[side]) {
        const size = 5 + Math.sqrt(count / most) * (middle - 9);
        pen.fillRect(at, sign < 0 ? middle - size : middle + 1, 3, size);
      }
    }
    pen.fillStyle = colour("hit");
    this.#rows.forEach(({ hit }, index) => hit && pen.fillRect(x(index), 0, 2, 6));
  }
}

/** At most `most` round numbers of milliseconds from zero to `length`. */
function ticksOf(length, most) {
  if (!length) return [];
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5];
  const step = steps.find((each) => length / each <= most) ?? 36e5 * Math.ceil(length / 36e5 / most);
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}
