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
  return feature.choices ? feature.choices.find(([first]) => first === code)[1] : feature.labels[code];
};

const codesOf = (feature) => (feature.choices ? feature.choices.map(([code]) => code) : [...Array(feature.size).keys()]);
const logOf = (codes) => {
  const leaf = leafOf(codes);
  if (profiles) return profileLog(codes, leaf);
  const { log } = data.leaves[leaf];
  return log === null ? -Infinity : log;
};

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

const meterOf = (unusualness) => {
  const meter = element("div", undefined, { class: "meter", "aria-hidden": "true" });
  const needle = element("i");
  needle.style.left = `calc(${100 * unusualness}% - 1px)`;
  meter.append(needle);
  const ends = element("div", undefined, { class: "ends", "aria-hidden": "true" });
  ends.append(element("span", "most common"), element("span", "most unusual"));
  return [meter, ends];
};

// How unusual a record of a kind is, and why.
const profileAnswer = (codes, number) => {
  const log = profileLog(codes, number);
  const unusualness = unusualnessAt(log);
  const said = `${capital(rarity(unusualness))}. Log density ${log.toFixed(2)}. This kind: ${data.leaves[number].share}.`;
  const reasons = element("ul", undefined, { class: "reasons" });
  reasons.append(...factorsOf(codes).map(factorText).map((text) => element("li", text)));
  return [element("p", said), ...meterOf(unusualness), ...(reasons.children.length ? [reasons] : [])];
};

const answer = (fields) => {
  const panel = document.getElementById("answer");
  const codes = data.features.map((feature, i) => codeOf(feature, fields[i]));
  const wrong = codes.findIndex(Number.isNaN);
  panel.replaceChildren();
  if (wrong >= 0 && !outside) {
    const { edges, integer } = data.features[wrong];
    const last = edges[edges.length - 1] - (integer && edges.length > 1 ? 1 : 0);
    outside = `${data.features[wrong].name} must be a number from ${edges[0]} to ${last}.`;
  }
  if (outside) {
    panel.append(element("p", `Outside the domain: ${outside} The model gives such a record density 0.`));
    return;
  }
  const number = leafOf(codes);
  const leaf = data.leaves[number];
  panel.append(element("h3", headingOf(number)));
  panel.append(...(profiles ? profileAnswer(codes, number) : [element("p", `${capital(leaf.rarity)}. Density ${leaf.density}. This leaf: ${leaf.share}.`), ...meterOf(leaf.unusual)]));
  const change = bestChange(codes);
  const times = change && Math.exp(change.log - logOf(codes));
  if (change) panel.append(element("p", `Most ordinary with one change: with ${change.feature.name} ${wordsOf(change.feature, change.code)} it would be ${Number.isFinite(times) ? `${sayable(times)} times as common` : "possible"}.`));
  else panel.append(element("p", "Changing one value would not make it more ordinary."));
};

// A number in the middle of a bin; nothing for a missing one.
const middleOf = ({ edges, integer, missing }, code) => {
  if (code === missing) return "";
  const middle = (edges[code] + edges[Math.min(code + 1, edges.length - 1)]) / 2;
  return integer ? Math.floor(middle) : Number(middle.toPrecision(4));
};

const fieldOf = (feature) => {
  if (feature.choices) {
    const field = element("select");
    for (const [code, text] of feature.choices) field.append(element("option", text, { value: code }));
    field.value = feature.start;
    return field;
  }
  const field = element("input", undefined, { type: "number", step: feature.integer ? 1 : "any" });
  field.value = middleOf(feature, feature.start);
  if (feature.missing !== null) field.placeholder = "missing";
  return field;
};

// A pasted row: a line of values in the order of the columns, or a header and a line below it.
const SEPARATORS = [",", ";", "\t", "|"];
const MISSING = ["", "na", "n/a", "#n/a", "nan", "null"];

const cellsOf = (line, separator) => {
  const cells = [""];
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) cells.push("");
    else cells[cells.length - 1] += character;
  }
  return cells.map((cell) => cell.trim());
};

const pastedValues = (text) => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const names = data.features.map(({ name }) => name);
  const count = (separator) => lines[0].split(separator).length;
  const separator = SEPARATORS.reduce((best, one) => (count(one) > count(best) ? one : best));
  const [first, second] = lines.slice(0, 2).map((line) => cellsOf(line, separator));
  if (second) return names.map((name) => second[first.indexOf(name)]);
  return first.length === names.length ? first : null;
};

const codeOfText = (feature, text) => {
  const plain = (one) => one.replace(/^"(.*)"$/, "$1").trim();
  const alike = [
    (label) => plain(label) === text,
    (label) => plain(label).toLowerCase() === text.toLowerCase(),
    (label) => text !== "" && Number(plain(label)) === Number(text),
  ];
  for (const test of alike) {
    const found = feature.choices.find(([, label]) => test(label));
    if (found) return found[0];
  }
  return MISSING.includes(text.toLowerCase()) ? feature.missing : null;
};

// Why the pasted row lies outside the domain: the first value that a column in use does not have.
let outside = "";
const unknown = (feature, reason) => {
  const said = `${feature.name} ${reason}`;
  if (!feature.used) return `${said} No leaf asks for it.`;
  outside = outside || said;
  return "";
};

// The period that a date or a time lies in, both as texts that sort like moments; null for one before or after all.
const codeOfMoment = ({ begins }, text) => {
  const moment = text.replace(" ", "T") + (begins[0].includes("-") ? "0000-01-01T00:00:00" : "00:00:00").slice(text.length);
  const code = begins.filter((begin) => begin <= moment).length - 1;
  return 0 <= code && code < begins.length - 1 ? code : null;
};

// Puts a text into a field, or says why it cannot.
const enter = (feature, field, text) => {
  if (text === undefined) return `${feature.name} is not in the row and stays as it was.`;
  if (feature.choices) {
    const known = codeOfText(feature, text);
    const code = known === null && feature.begins && /^\d/.test(text) ? codeOfMoment(feature, text) : known;
    if (code === null) return unknown(feature, `has no value ${text || "missing"}.`);
    field.value = code;
    return "";
  }
  const number = /^-?\d+,\d+$/.test(text) ? text.replace(",", ".") : text;
  if (!MISSING.includes(number.toLowerCase()) && Number.isNaN(Number(number))) return unknown(feature, `must be a number, not ${text}.`);
  field.value = MISSING.includes(number.toLowerCase()) ? "" : number;
  return "";
};

const paste = (text, fields) => {
  const said = document.getElementById("pasted");
  said.textContent = outside = "";
  if (!text.trim()) return;
  const values = pastedValues(text);
  if (!values) {
    said.textContent = `The row needs ${data.features.length} values, one per column in the order of the table. Or paste the header above it.`;
    return;
  }
  said.textContent = data.features.map((feature, i) => enter(feature, fields[i], values[i])).filter(Boolean).join(" ");
};

const buildForm = () => {
  if (!data.structure) return;
  const form = document.getElementById("form");
  const fields = data.features.map(fieldOf);
  const [first, others] = [element("div", undefined, { class: "fields" }), element("div", undefined, { class: "fields" })];
  data.features.forEach((feature, i) => {
    const label = element("label");
    label.append(element("span", feature.name), fields[i]);
    (feature.first ? first : others).append(label);
  });
  const more = element("details");
  const number = others.children.length;
  more.append(element("summary", `${number} more column${number > 1 ? "s" : ""}, which ${profiles ? `matter${number > 1 ? "" : "s"} less` : "the model does not look at"}`), others);
  form.prepend(first, ...(number ? [more] : []));
  const row = document.getElementById("row");
  row.addEventListener("input", () => paste(row.value, fields));
  form.addEventListener("input", (event) => {
    if (event.target !== row) outside = "";
    answer(fields);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("look-up").hidden = false;
  answer(fields);
};
