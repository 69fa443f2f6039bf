const MOST_ROWS = 40;

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
    if (spot.leaf === null) return;
    showLeaf(spot.leaf);
    this.uncover(spot);
  }

  // The card lies over the lower end of the window: a leaf below it is moved up.
  uncover(spot) {
    const card = document.getElementById("leaf").getBoundingClientRect();
    const below = spot.group.getBoundingClientRect().bottom + 8 - card.top;
    if (below > 0 && card.bottom <= window.innerHeight) window.scrollBy(0, below);
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

// What one leaf is called: a kind of records by its name, others by their conditions.
const headingOf = (number) => {
  const { name, conditions } = data.leaves[number];
  return name ? `Kind ${number}: ${name}` : `Leaf ${number}: ${conditions.join(" and ") || "every record"}`;
};

// What one leaf holds: of a kind of records what its card says.
const showLeaf = (number) => {
  const panel = document.getElementById("leaf");
  const leaf = data.leaves[number];
  panel.hidden = !leaf;
  panel.replaceChildren();
  if (!leaf) return;
  panel.append(element("h3", headingOf(number)));
  const close = element("button", "×", { type: "button", class: "close", "aria-label": "Close" });
  close.addEventListener("click", () => { panel.hidden = true; });
  panel.prepend(close);
  panel.append(element("p", `${capital(leaf.share)}; 95 % interval of the expected share ${leaf.interval}; ${data.weight}: ${leaf.weight}.`));
  const kind = document.getElementById(`kind-${number}`);
  if (kind) panel.append(...[...kind.children].filter(({ tagName }) => tagName !== "H3").map((part) => part.cloneNode(true)));
  if (!leaf.density) return;
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

