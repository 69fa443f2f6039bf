"use strict";
const data = JSON.parse(document.getElementById("data").textContent);

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
// A share in whole percent, a small one with a digit more.
const about = (share) => {
  if (share > 0 && share < 0.0005) return "under 0.1 %";
  if (share >= 0.995 && share < 1 - 1e-12) return "over 99 %";
  return `${(100 * share).toFixed(share > 0 && share < 0.0095 ? 1 : 0)} %`;
};
const rarity = (unusualness) => (unusualness < 0.0005 ? "among the most common records" : `rarer than ${percent(unusualness).replace("over ", "")} of expected records`);

const capital = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;
