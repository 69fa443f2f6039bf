"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const MOST_ROWS = 40;

  const element = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  // A number as a person would say it.
  const sayable = (x) => {
    if (x < 999.5) return String(Number(Number(x.toPrecision(6)).toPrecision(3)));
    const value = Number(x.toPrecision(2));
    const [size, name] = [[1e12, " trillion"], [1e9, " billion"], [1e6, " million"]].find(([least]) => value >= least) || [1, ""];
    if (value < 1e15) return `${Number((value / size).toPrecision(4)).toLocaleString("en-US")}${name}`;
    return x.toExponential(0).replace("e+", " × 10^");
  };
  const percent = (share) => (share >= 0.9995 && share < 1 ? "over 99.9 %" : `${Number((100 * share).toPrecision(3))} %`);

  // The picture: folding, moving with the keyboard, choosing a leaf.
  class Picture {
    constructor(svg) {
      this.svg = svg;
      this.row = Number(svg.dataset.row);
      this.top = Number(svg.dataset.top);
      this.deep = svg.dataset.deep === "1";
      this.spots = [...svg.querySelectorAll(".sd-spot")].map((group) => this.spot(group));
      for (const spot of this.spots) if (spot.parent !== null) this.spots[spot.parent].children.push(spot);
      this.folds = this.spots.some((spot) => spot.children.length && spot.parent !== null);
      svg.setAttribute("role", "tree");
      for (const spot of this.spots) this.prepare(spot);
      this.foldSmallest();
      this.place();
      this.current = this.spots[0];
      if (this.current) this.current.group.setAttribute("tabindex", "0");
    }

    spot(group) {
      const number = (name) => (group.dataset[name] === undefined ? null : Number(group.dataset[name]));
      const curve = group.querySelector(".sd-curve");
      return {
        group, curve, children: [], folded: false, y: 0,
        parent: number("parent"), leaf: number("leaf"), depth: number("depth"), offset: number("offset"),
        share: number("share"), cells: group.querySelector(".sd-row"), trunk: group.querySelector(".sd-trunk"),
        bars: [...group.querySelectorAll("rect[class*=sd-c]")].map((bar) => ({ bar, column: bar.classList[1], width: Number(bar.getAttribute("width")) })),
        ends: curve ? curve.getAttribute("d").match(/-?[\d.]+/g).map(Number) : null,
      };
    }

    prepare(spot) {
      const { group } = spot;
      const title = group.querySelector("title");
      const texts = [...group.querySelectorAll(":scope > text")].map((text) => text.getBBox());
      const end = Math.max(...texts.map((box) => box.x + box.width));
      const begin = texts[0].x - 3;
      this.add(group, "rect", {
        class: "sd-mark", x: begin, y: -this.row / 2 + 1, height: this.row - 2,
        width: spot.children.length ? end - begin + 3 : this.svg.viewBox.baseVal.width - begin - 4,
      });
      group.setAttribute("role", "treeitem");
      group.setAttribute("tabindex", "-1");
      group.setAttribute("aria-level", spot.depth + 1);
      group.setAttribute("aria-label", title.textContent.split("\n").join(", "));
      if (spot.children.length) spot.sign = this.add(group, "text", { class: "sd-fold", x: end + 3, y: -8 });
      group.addEventListener("click", () => this.activate(spot));
      group.addEventListener("keydown", (event) => this.key(spot, event));
      group.addEventListener("mouseenter", () => this.highlight(spot));
      group.addEventListener("mouseleave", () => this.highlight(null));
    }

    add(group, tag, attributes) {
      const made = document.createElementNS(group.namespaceURI, tag);
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      return tag === "rect" ? group.insertBefore(made, group.firstChild) : group.appendChild(made);
    }

    below(spot) { return spot.folded ? [] : spot.children; }
    isRow(spot) { return this.deep || this.below(spot).length === 0; }

    visible() {
      const found = [];
      const stack = this.spots.filter((spot) => spot.parent === null).reverse();
      while (stack.length) {
        const spot = stack.pop();
        found.push(spot);
        stack.push(...[...this.below(spot)].reverse());
      }
      return found;
    }

    foldSmallest() {
      if (this.spots.length <= MOST_ROWS) return;
      const inner = this.spots.filter((spot) => spot.children.length && spot.parent !== null);
      for (const spot of inner.sort((a, b) => a.share - b.share)) {
        if (this.visible().filter((one) => this.isRow(one)).length <= MOST_ROWS) return;
        spot.folded = true;
      }
    }

    // Rows one below the other, branches between their first and last child. What cannot fold stays as it was drawn.
    place() {
      if (!this.folds) return;
      const shown = this.visible();
      const rows = shown.filter((spot) => this.isRow(spot));
      rows.forEach((spot, i) => { spot.y = this.top + (i + 0.5) * this.row; });
      for (const spot of [...shown].reverse()) {
        const below = this.below(spot);
        if (!this.isRow(spot)) spot.y = (below[0].y + below[below.length - 1].y) / 2;
      }
      for (const spot of this.spots) spot.group.style.display = "none";
      for (const spot of shown) this.show(spot);
      this.scale(rows);
      this.finish(this.top + rows.length * this.row);
    }

    show(spot) {
      spot.group.style.display = "";
      spot.group.setAttribute("transform", `translate(0 ${spot.y})`);
      const up = spot.parent === null ? 0 : this.spots[spot.parent].y - spot.y;
      if (spot.ends) {
        const [x1, , xm, , , , x2] = spot.ends;
        const y1 = up + spot.offset;
        spot.curve.setAttribute("d", `M${x1} ${y1}C${xm} ${y1} ${xm} 0 ${x2} 0`);
      }
      if (spot.trunk) {
        const x = spot.trunk.getAttribute("d").match(/-?[\d.]+/)[0];
        spot.trunk.setAttribute("d", `M${x} ${up + 10}L${x} 0`);
      }
      if (spot.children.length) {
        spot.group.setAttribute("aria-expanded", String(!spot.folded));
        spot.sign.textContent = spot.folded ? `+${this.count(spot)}` : "";
        if (spot.cells) spot.cells.style.display = spot.folded ? "" : "none";
      }
    }

    count(spot) { return spot.children.length ? spot.children.reduce((sum, child) => sum + this.count(child), 0) : 1; }

    // A folded branch holds more than any leaf: the longest bar that is shown has the length of the axis.
    scale(rows) {
      const longest = (spots) => {
        const found = {};
        for (const { column, width } of spots.flatMap((spot) => spot.bars)) found[column] = Math.max(found[column] || 0, width);
        return found;
      };
      this.axes ??= longest(this.spots.filter((spot) => !spot.children.length));
      const now = longest(rows.filter((spot) => spot.cells && spot.cells.style.display !== "none"));
      for (const { bar, column, width } of rows.flatMap((spot) => spot.bars)) {
        bar.setAttribute("width", width * Math.min(1, this.axes[column] / now[column]));
      }
    }

    // The paper, the axes and the legend end where the rows do.
    finish(bottom) {
      const view = this.svg.viewBox.baseVal;
      this.drawn ??= { height: view.height, bottom: Number(this.svg.dataset.bottom) };
      const moved = bottom - this.drawn.bottom;
      view.height = this.drawn.height + moved;
      this.svg.setAttribute("height", view.height);
      for (const line of this.svg.querySelectorAll(".sd-frame .sd-long")) {
        line.setAttribute("d", line.getAttribute("d").replace(/L(\S+) \S+$/, `L$1 ${bottom}`));
      }
      this.svg.querySelector(".sd-legend").setAttribute("transform", `translate(0 ${moved})`);
    }

    activate(spot) {
      this.focus(spot, false);
      if (spot.children.length) this.fold(spot, !spot.folded);
      else this.choose(spot);
    }

    fold(spot, folded) {
      if (!spot.children.length || spot.parent === null) return;
      spot.folded = folded;
      this.place();
    }

    foldAll(folded) {
      for (const spot of this.spots) if (spot.children.length && spot.parent !== null) spot.folded = folded;
      this.place();
      this.focus(this.spots[0], false);
    }

    choose(spot) {
      for (const other of this.spots) other.group.setAttribute("aria-selected", String(other === spot));
      if (spot.leaf !== null) showLeaf(spot.leaf);
    }

    highlight(spot) {
      for (const other of this.spots) other.group.classList.remove("sd-on");
      this.svg.classList.toggle("sd-some", spot !== null);
      const mark = (one) => { one.group.classList.add("sd-on"); this.below(one).forEach(mark); };
      if (spot) mark(spot);
      for (let one = spot; one; one = one.parent === null ? null : this.spots[one.parent]) one.group.classList.add("sd-on");
    }

    focus(spot, move = true) {
      if (!spot) return;
      this.current.group.setAttribute("tabindex", "-1");
      this.current = spot;
      spot.group.setAttribute("tabindex", "0");
      if (move) spot.group.focus();
    }

    key(spot, event) {
      const shown = this.visible();
      const at = shown.indexOf(spot);
      const parent = spot.parent === null ? null : this.spots[spot.parent];
      const moves = {
        ArrowDown: () => this.focus(shown[at + 1]),
        ArrowUp: () => this.focus(shown[at - 1]),
        Home: () => this.focus(shown[0]),
        End: () => this.focus(shown[shown.length - 1]),
        ArrowLeft: () => (this.below(spot).length && parent ? this.fold(spot, true) : this.focus(parent)),
        ArrowRight: () => (spot.folded ? this.fold(spot, false) : this.focus(this.below(spot)[0])),
        Enter: () => this.activate(spot),
        " ": () => this.activate(spot),
      };
      if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      moves[event.key]();
    }
  }

  // What one leaf holds.
  const showLeaf = (number) => {
    const panel = document.getElementById("leaf");
    const leaf = data.leaves[number];
    panel.hidden = !leaf;
    panel.replaceChildren();
    if (!leaf) return;
    panel.append(element("h3", `Leaf ${number}: ${leaf.conditions.join(" and ") || "everything else"}`));
    panel.append(element("p", `${leaf.probability} of all records are expected here (95 % interval ${leaf.interval}); ${data.weight} seen: ${leaf.weight}.`));
    panel.append(element("p", `Density ${leaf.density} over a volume of ${leaf.volume}: ${leaf.rarity}.`));
    const special = data.special[number] || [];
    if (!special.length) return;
    panel.append(element("p", "What its rows look like; columns that differ most from all rows come first. The bar is this leaf, the mark all rows.", { class: "soft" }));
    const grid = element("div", undefined, { class: "special" });
    for (const [name, values] of special) {
      const part = element("section");
      part.append(element("h4", name));
      for (const [label, here, overall] of values) {
        const line = element("div");
        const track = element("span", undefined, { class: "track", title: `${percent(here)} here, ${percent(overall)} of all rows` });
        const bar = element("i");
        const mark = element("u");
        bar.style.width = `${100 * here}%`;
        mark.style.left = `${100 * overall}%`;
        track.append(bar, mark);
        line.append(element("span", label), track, element("span", percent(here)));
        part.append(line);
      }
      grid.append(part);
    }
    panel.append(grid);
  };

  // Looking up one record.
  const leafOf = (codes) => {
    const { feature, offset, child, number, rules, cells } = data.structure;
    if (rules) {
      const taken = rules.findIndex((rule) => rule.every(([i, low, high]) => low <= codes[i] && codes[i] <= high));
      return taken < 0 ? rules.length : taken;
    }
    if (cells) {
      const found = cells.findIndex((cell) => cell.every((code, i) => code === codes[i]));
      return found < 0 ? cells.length : found;
    }
    let node = 0;
    while (feature[node] >= 0) node = child[offset[node] + codes[feature[node]]];
    return number[node];
  };

  const codeOf = (feature, field) => {
    if (feature.choices) return Number(field.value);
    if (field.value.trim() === "") return feature.missing === null ? NaN : feature.missing;
    const value = Number(field.value);
    const { edges, integer } = feature;
    const last = edges[edges.length - 1];
    if (value < edges[0] || value > last || (integer && value === last && edges[0] < last)) return NaN;
    let code = 0;
    while (code < edges.length - 2 && value >= edges[code + 1]) code += 1;
    return code;
  };

  const wordsOf = (feature, code) => {
    if (code === feature.missing) return "missing";
    if (feature.choices) return feature.choices.find(([first]) => first === code)[1];
    const { edges, integer } = feature;
    const short = (x) => String(Number(x.toPrecision(6)));
    return `${short(edges[code])} to ${short(edges[code + 1] - (integer ? 1 : 0))}`;
  };

  const codesOf = (feature) => (feature.choices ? feature.choices.map(([code]) => code) : [...Array(feature.size).keys()]);
  const logOf = (codes) => { const { log } = data.leaves[leafOf(codes)]; return log === null ? -Infinity : log; };

  const bestChange = (codes) => {
    let best = { log: logOf(codes) + 1e-9 };
    data.features.forEach((feature, i) => {
      for (const code of codesOf(feature)) {
        const log = logOf(codes.map((old, j) => (j === i ? code : old)));
        if (log > best.log + 1e-9) best = { log, feature, code };
      }
    });
    return best.feature ? best : null;
  };

  const answer = (fields) => {
    const panel = document.getElementById("answer");
    const codes = data.features.map((feature, i) => codeOf(feature, fields[i]));
    const wrong = codes.findIndex(Number.isNaN);
    panel.replaceChildren();
    if (wrong >= 0) {
      const { edges, integer } = data.features[wrong];
      const last = edges[edges.length - 1] - (integer && edges.length > 1 ? 1 : 0);
      panel.append(element("p", `Outside the domain: ${data.features[wrong].name} must be a number from ${edges[0]} to ${last}. The model gives such a record density 0.`));
      return;
    }
    const number = leafOf(codes);
    const leaf = data.leaves[number];
    panel.append(element("h3", `Leaf ${number}: ${leaf.conditions.join(" and ") || "everything else"}`));
    panel.append(element("p", `${leaf.rarity[0].toUpperCase()}${leaf.rarity.slice(1)}. Density ${leaf.density}; ${leaf.probability} of all records are in this leaf.`));
    const meter = element("div", undefined, { class: "meter", "aria-hidden": "true" });
    const needle = element("i");
    needle.style.left = `calc(${100 * leaf.unusual}% - 1px)`;
    meter.append(needle);
    const ends = element("div", undefined, { class: "ends", "aria-hidden": "true" });
    ends.append(element("span", "most common"), element("span", "most unusual"));
    panel.append(meter, ends);
    const change = bestChange(codes);
    const times = change && Math.exp(change.log - logOf(codes));
    if (change) panel.append(element("p", `Most ordinary with one change: with ${change.feature.name} ${wordsOf(change.feature, change.code)} it would be ${Number.isFinite(times) ? `${sayable(times)} times as common` : "possible"}.`));
    else panel.append(element("p", "Changing one value would not make it more ordinary."));
  };

  const buildForm = () => {
    if (!data.structure) return;
    const form = document.getElementById("form");
    const fields = data.features.map((feature) => {
      const label = element("label");
      label.append(element("span", feature.name));
      let field;
      if (feature.choices) {
        field = element("select");
        for (const [code, text] of feature.choices) field.append(element("option", text, { value: code }));
      } else {
        const { edges, integer } = feature;
        field = element("input", undefined, { type: "number", step: integer ? 1 : "any" });
        const middle = (edges[0] + edges[Math.min(1, edges.length - 1)]) / 2;
        field.value = integer ? Math.floor(middle) : Number(middle.toPrecision(4));
        if (feature.missing !== null) field.placeholder = "missing";
      }
      label.append(field);
      form.append(label);
      return field;
    });
    form.addEventListener("input", () => answer(fields));
    form.addEventListener("submit", (event) => event.preventDefault());
    document.getElementById("look-up").hidden = false;
    answer(fields);
  };

  // A picture that is not shown cannot be measured: it is prepared when its turn comes.
  const pictures = new Map();
  const prepare = () => {
    for (const svg of document.querySelectorAll("svg[data-row]")) {
      if (!pictures.has(svg) && svg.getBoundingClientRect().width > 0) pictures.set(svg, new Picture(svg));
    }
  };
  prepare();
  window.addEventListener("resize", prepare);
  window.addEventListener("beforeprint", prepare);
  for (const button of document.querySelectorAll("button[data-do]")) {
    button.addEventListener("click", () => pictures.forEach((picture) => picture.foldAll(button.dataset.do === "fold")));
  }
  document.querySelector(".tools").hidden = ![...pictures.values()].some((picture) => picture.folds);
  buildForm();
})();
