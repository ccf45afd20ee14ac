// A map of items: hover, click, search, keys and zoom over points that are there without it.
function openMap(root) {
  const began = performance.now();
  const data = JSON.parse(root.querySelector("script").textContent);
  const bytes = (text) => {
    const signs = atob(text), out = new Uint8Array(signs.length);
    for (let k = 0; k < signs.length; k++) out[k] = signs.charCodeAt(k);
    return out;
  };
  const numbers = (text) => {
    const pairs = bytes(text), out = new Uint16Array(pairs.length / 2);
    for (let k = 0; k < out.length; k++) out[k] = pairs[2 * k] | pairs[2 * k + 1] << 8;
    return out;
  };
  const NOBODY = 65535, WIDTH = 1000, HEIGHT = 640, LABELLED = 12, INKS = 8;
  const count = data.ids.length, width = data.width;
  const near = numbers(data.near), scores = numbers(data.scores), exact = bytes(data.exact);
  // places in units of the drawing, x and y in turn
  const layouts = data.layouts.map((layout) => ({ ...layout, at: Float32Array.from(numbers(layout.at), (share) => share / 65535 * WIDTH) }));
  const colorings = data.colorings.map((coloring) => ({ ...coloring, of: numbers(coloring.of) }));
  const find = (selector) => root.querySelector(selector);
  const svg = find("svg"), side = find(".chosen"), said = find(".said"), found = find(".found"), tip = find(".tip");
  const box = find(".find"), paint = find(".paint"), plan = find(".plan"), legend = find(":scope > .legend");
  const NS = svg.namespaceURI;
  const at = { layout: 0, coloring: 0, chosen: null, under: null, hits: [], only: null };
  let view = { x: 0, y: 0, w: WIDTH, h: HEIGHT };

  let places = layouts.length ? layouts[0].at : new Float32Array(2 * count);
  const x = (item) => places[2 * item], y = (item) => places[2 * item + 1];
  const shown = (value) => value.toFixed(3).replace("-", "−");
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  // tenths of a unit are enough
  const tenth = (value) => Math.round(10 * value) / 10;
  const dots = (items) => {
    let d = "";
    for (const item of items) d += `M${tenth(x(item))} ${tenth(y(item))}h0`;
    return d;
  };
  const path = (className, d) => {
    const made = document.createElementNS(NS, "path");
    made.setAttribute("class", className);
    made.setAttribute("d", d);
    return made;
  };
  const labelOf = (item) => {
    const coloring = colorings[at.coloring];
    const label = coloring ? coloring.of[item] : NOBODY;
    return label === NOBODY ? "" : coloring.names[label];
  };

  // the labels that have a color: the largest ones
  function inked() {
    const coloring = colorings[at.coloring];
    if (!coloring) return { groups: [{ name: "", items: [...Array(count).keys()], ink: 1, label: null }], rest: [] };
    const members = coloring.names.map(() => []), rest = [];
    for (let item = 0; item < count; item++) (coloring.of[item] === NOBODY ? rest : members[coloring.of[item]]).push(item);
    const order = [...members.keys()].filter((label) => members[label].length).sort((a, b) => members[b].length - members[a].length || a - b);
    const groups = order.slice(0, INKS).map((label, place) => ({ name: coloring.names[label], items: members[label], ink: place + 1, label }));
    for (const label of order.slice(INKS)) rest.push(...members[label]);
    return { groups, rest, others: order.length - groups.length };
  }
  function drawPoints() {
    const { groups, rest, others } = inked();
    const isPale = (group) => at.only !== null && at.only !== group.label;
    const layers = groups.map((group) => path(isPale(group) ? "pale" : `k${group.ink}${group.ink % 2 ? "" : " square"}`, dots(group.items)));
    find(".points").replaceChildren(path("pale", dots(rest)), ...layers.filter((layer) => layer.classList.contains("pale")), ...layers.filter((layer) => !layer.classList.contains("pale")));
    const entries = colorings[at.coloring] ? groups.map((group) => {
      const key = element("span", { className: `key k${group.ink}${group.ink % 2 ? "" : " square"}` });
      const button = element("button", { type: "button" }, key, `${group.name} (${group.items.length.toLocaleString("en")})`);
      button.setAttribute("aria-pressed", at.only === group.label);
      button.addEventListener("click", () => { at.only = at.only === group.label ? null : group.label; drawPoints(); });
      return element("li", {}, button);
    }) : [];
    if (entries.length && rest.length) {
      const words = others > 0 ? `${others === 1 ? "one smaller label" : `${others} smaller labels`}, or none` : "without a label";
      entries.push(element("li", { className: "faint" }, element("span", { className: "key k0" }), `${words} (${rest.length.toLocaleString("en")})`));
    }
    legend.replaceChildren(...entries);
    drawWords(groups);
  }
  const median = (items, axis) => Float32Array.from(items, (item) => places[2 * item + axis]).sort()[items.length >> 1];
  // the name of a label stands at the median of its items
  function drawWords(groups = inked().groups) {
    const unit = view.w / Math.max(svg.clientWidth, 1), size = 15 * unit, signs = svg.clientWidth < 500 ? 14 : 28;
    // of landmarks and other items neither has a place of its own
    const names = colorings[at.coloring] && colorings[at.coloring].name !== "landmarks" && colorings[at.coloring].names.length <= LABELLED ? groups : [];
    const placed = [];
    for (const group of names) {
      const words = group.name.length > signs ? group.name.slice(0, signs - 1).trimEnd() + "…" : group.name;
      const spot = { x: median(group.items, 0), y: median(group.items, 1), half: 0.3 * size * words.length, words };
      // of two names that would cover one another the larger group's stays
      const covers = (other) => Math.abs(other.y - spot.y) < 1.2 * size && Math.abs(other.x - spot.x) < other.half + spot.half;
      if (!placed.some(covers)) placed.push(spot);
    }
    find(".words").replaceChildren(...placed.map((spot) => {
      const text = document.createElementNS(NS, "text");
      for (const [key, value] of [["x", spot.x], ["y", spot.y], ["font-size", size]]) text.setAttribute(key, value);
      text.textContent = spot.words;
      return text;
    }));
  }
  function neighbors(item) {
    const list = [];
    for (let place = item * width; place < (item + 1) * width; place++) {
      if (near[place] !== NOBODY) list.push({ item: near[place], score: data.low + scores[place] / 65535 * data.extent, exact: exact[place] === 1 });
    }
    return list;
  }
  function drawMarks() {
    const marks = [], links = [];
    if (at.hits.length) marks.push(path("hit", dots(at.hits)));
    if (at.chosen !== null) {
      const list = neighbors(at.chosen);
      for (const kind of [true, false]) {
        const lines = list.filter((one) => one.exact === kind).map((one) => `M${tenth(x(at.chosen))} ${tenth(y(at.chosen))}L${tenth(x(one.item))} ${tenth(y(one.item))}`);
        links.push(path(kind ? "evaluated" : "estimated", lines.join("")));
      }
      marks.push(path("neighbor", dots(list.map((one) => one.item))), path("self", dots([at.chosen])), path("core", dots([at.chosen])));
    }
    find(".links").replaceChildren(...links);
    find(".marks").replaceChildren(...marks, under);
    drawUnder();
  }
  const under = path("under", "");
  const drawUnder = () => under.setAttribute("d", at.under === null ? "" : dots([at.under]));
  function score(value, isExact) {
    return element("span", { className: isExact ? "exact" : "estimated", title: isExact ? "evaluated" : "estimated by the factors" }, (isExact ? "" : "≈ ") + shown(value));
  }
  function choose(item, isLoud = true) {
    at.chosen = item;
    drawMarks();
    if (item === null) { side.replaceChildren(); return; }
    const list = neighbors(item), label = labelOf(item);
    const lines = list.map((one) => {
      const words = element("span", {}, element("b", {}, data.ids[one.item]), " ", data.texts[one.item] || "");
      const button = element("button", { type: "button", className: "go" }, score(one.score, one.exact), words);
      button.dataset.item = one.item;
      return element("li", {}, button);
    });
    side.replaceChildren(
      element("h3", {}, data.ids[item]),
      element("p", {}, data.texts[item] || ""),
      ...(label ? [element("p", { className: "muted" }, `${colorings[at.coloring].name}: ${label}`)] : []),
      element("p", { className: "muted" }, list.length ? `Its ${list.length} nearest neighbors; ≈ marks estimated scores:` : "It has no neighbors here."),
      element("ol", {}, ...lines));
    if (isLoud) said.textContent = "";
    reveal(item);
  }
  // an item outside the window moves it
  function reveal(item) {
    const [px, py] = [x(item), y(item)];
    if (px < view.x || px > view.x + view.w || py < view.y || py > view.y + view.h) look({ ...view, x: px - view.w / 2, y: py - view.h / 2 });
  }
  function look(next) {
    const w = Math.min(WIDTH, Math.max(WIDTH / 60, next.w)), h = w * HEIGHT / WIDTH;
    view = { w, h, x: Math.min(WIDTH - w, Math.max(0, next.x)), y: Math.min(HEIGHT - h, Math.max(0, next.y)) };
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
    svg.classList.toggle("near", w < WIDTH);
    drawWords();
  }
  function zoom(factor, cx = view.x + view.w / 2, cy = view.y + view.h / 2) {
    const w = Math.min(WIDTH, Math.max(WIDTH / 60, view.w * factor));
    look({ w, x: cx - (cx - view.x) * w / view.w, y: cy - (cy - view.y) * w / view.w });
  }
  const seen = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const unit = () => 1 / svg.getScreenCTM().a;
  function nearest(px, py, reach) {
    let best = null, least = reach * reach;
    for (let item = 0; item < count; item++) {
      const dx = places[2 * item] - px, dy = places[2 * item + 1] - py, distance = dx * dx + dy * dy;
      if (distance < least) [best, least] = [item, distance];
    }
    return best;
  }
  function hover(event) {
    const point = seen(event), item = nearest(point.x, point.y, 14 * unit());
    if (item !== at.under) {
      at.under = item;
      drawUnder();
      tip.hidden = item === null;
      if (item !== null) {
        const label = labelOf(item), text = data.texts[item] || "";
        tip.replaceChildren(element("b", {}, data.ids[item]), " ", text.length > 220 ? text.slice(0, 219) + "…" : text, ...(label ? [element("div", { className: "label" }, label)] : []));
      }
    }
    if (item !== null) {
      const frame = svg.getBoundingClientRect();
      const left = event.clientX - frame.left + 14, top = event.clientY - frame.top + 14;
      tip.style.left = `${Math.max(0, Math.min(left, frame.width - tip.offsetWidth - 4))}px`;
      tip.style.top = `${top + tip.offsetHeight > frame.height ? Math.max(0, top - tip.offsetHeight - 24) : top}px`;
    }
  }
  let held = null;
  svg.addEventListener("pointerdown", (event) => { held = { from: [event.clientX, event.clientY], view, isMoved: false }; });
  svg.addEventListener("pointermove", (event) => {
    if (held && view.w < WIDTH && event.buttons) {
      const [dx, dy] = [event.clientX - held.from[0], event.clientY - held.from[1]];
      if (!held.isMoved && Math.hypot(dx, dy) < 4) return;
      if (!held.isMoved) svg.setPointerCapture(event.pointerId);
      held.isMoved = true;
      svg.classList.add("held");
      look({ ...held.view, x: held.view.x - dx * unit(), y: held.view.y - dy * unit() });
    } else if (event.pointerType === "mouse") hover(event);
  });
  svg.addEventListener("pointerup", (event) => {
    svg.classList.remove("held");
    const wasMoved = held && held.isMoved;
    held = null;
    if (wasMoved) return;
    const point = seen(event);
    choose(nearest(point.x, point.y, (event.pointerType === "mouse" ? 14 : 24) * unit()));
  });
  svg.addEventListener("pointercancel", () => { held = null; svg.classList.remove("held"); });
  svg.addEventListener("pointerleave", () => { at.under = null; tip.hidden = true; drawUnder(); });
  svg.addEventListener("dblclick", (event) => { const point = seen(event); zoom(0.5, point.x, point.y); });
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const point = seen(event);
    zoom(event.deltaY > 0 ? 1.25 : 0.8, point.x, point.y);
  }, { passive: false });
  // the next item in a direction: near, and not too far aside
  function step(dx, dy) {
    if (at.chosen === null) { choose(nearest(view.x + view.w / 2, view.y + view.h / 2, WIDTH)); return; }
    let best = null, least = Infinity;
    for (let item = 0; item < count; item++) {
      const [ax, ay] = [x(item) - x(at.chosen), y(item) - y(at.chosen)];
      const along = ax * dx + ay * dy, aside = Math.abs(ax * dy - ay * dx);
      if (along > 0.5 && along + 2 * aside < least) [best, least] = [item, along + 2 * aside];
    }
    if (best !== null) choose(best);
  }
  const KEYS = {
    ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0), ArrowUp: () => step(0, -1), ArrowDown: () => step(0, 1),
    "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4), 0: () => look({ x: 0, y: 0, w: WIDTH }), Escape: () => choose(null),
    Enter: () => { const first = side.querySelector(".go"); if (first) first.focus(); },
  };
  svg.addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  for (const button of root.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => ({ in: () => zoom(0.6), out: () => zoom(1 / 0.6), all: () => look({ x: 0, y: 0, w: WIDTH }) })[button.dataset.zoom]());
  }

  // folded at the first search
  let folded = null;
  function search() {
    folded ||= data.ids.map((id, item) => `${id}\n${data.texts[item] || ""}`.toLowerCase());
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    at.hits = words.length ? folded.flatMap((text, item) => words.every((word) => text.includes(word)) ? [item] : []) : [];
    // an id that is the very word comes first
    at.hits.sort((a, b) => (data.ids[b].toLowerCase() === words[0]) - (data.ids[a].toLowerCase() === words[0]) || a - b);
    const shownHits = at.hits.slice(0, 30).map((item) => {
      const button = element("button", { type: "button", className: "go" }, element("b", {}, data.ids[item]), " ", (data.texts[item] || "").slice(0, 120));
      button.dataset.item = item;
      return element("li", {}, button);
    });
    found.replaceChildren(...shownHits);
    said.textContent = !words.length ? "" : at.hits.length === 0 ? "No item has these words." : `${at.hits.length.toLocaleString("en")} ${at.hits.length === 1 ? "item has" : "items have"} these words${at.hits.length > 30 ? "; the first 30 are listed" : ""}.`;
    drawMarks();
  }
  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && at.hits.length) choose(at.hits[0], false);
    if (event.key === "Escape") { box.value = ""; search(); }
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button.go");
    if (!button) return;
    const isInside = root.contains(button), section = button.closest("[data-of]");
    if (!isInside && !(section && section.dataset.of === root.dataset.map)) return;
    choose(Number(button.dataset.item));
    if (!isInside) { root.scrollIntoView({ block: "start" }); svg.focus({ preventScroll: true }); }
  });
  const options = (select, names) => {
    select.replaceChildren(...names.map((name, value) => element("option", { value }, name)));
    select.parentElement.hidden = names.length < 2;
    select.parentElement.style.display = names.length < 2 ? "none" : "";
  };
  options(paint, [...colorings.map((coloring) => coloring.name), ...(colorings.length ? ["none"] : [])]);
  options(plan, layouts.map((layout) => layout.name));
  paint.addEventListener("change", () => { at.coloring = Number(paint.value); at.only = null; drawPoints(); if (at.chosen !== null) choose(at.chosen); });
  const note = () => { find(".plan-note").textContent = layouts.length ? layouts[at.layout].note : ""; };
  plan.addEventListener("change", () => { at.layout = Number(plan.value); places = layouts[at.layout].at; note(); drawPoints(); drawMarks(); if (at.chosen !== null) reveal(at.chosen); });
  find(".controls").hidden = false;
  note();
  drawPoints();
  addEventListener("resize", () => drawWords());
  addEventListener("beforeprint", () => look({ x: 0, y: 0, w: WIDTH }));
  root.dataset.ready = (performance.now() - began).toFixed(1);
}
for (const root of document.querySelectorAll("[data-map]")) openMap(root);
