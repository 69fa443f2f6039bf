// Records of leaves with profiles: each has a density of its own, and values that make it rare.
const { profiles } = data;
const starts = [0];
for (const { size } of data.features) starts.push(starts[starts.length - 1] + size);

const shareIn = (shares, codes, i) => shares[starts[i] + codes[i]];
const measureOf = (codes, i) => (profiles.measures ? shareIn(profiles.measures, codes, i) : 1);

// ln P(leaf), and for each column the log of the share of its value there, over the measure of the value.
const profileLog = (codes, leaf) => codes.reduce(
  (sum, _, i) => sum + Math.log(shareIn(profiles.inside[leaf], codes, i) / measureOf(codes, i)),
  profiles.logs[leaf] ?? -Infinity,
);

// The share of expected records that are denser, between two points of a table of both, the densest first.
const unusualnessAt = (log) => {
  const { logs, denser } = profiles.ranking;
  const last = logs.length - 1;
  if (log >= logs[0]) return denser[0];
  if (log <= logs[last]) return denser[last];
  let [low, high] = [0, last];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (logs[middle] > log) low = middle;
    else high = middle;
  }
  return denser[low] + ((denser[high] - denser[low]) * (logs[low] - log)) / (logs[low] - logs[high]);
};

// How often records with the same other values have the value of a column; in the leaf, if none are expected.
const shareAmong = (codes, i) => {
  const each = codesOf(data.features[i]).map((code) => codes.map((old, j) => (j === i ? code : old)));
  const logs = each.map(logOf);
  const highest = Math.max(...logs);
  if (highest === -Infinity) return shareIn(profiles.inside[leafOf(codes)], codes, i);
  const sum = each.reduce((total, changed, n) => total + Math.exp(logs[n] - highest) * measureOf(changed, i), 0);
  return (Math.exp(logOf(codes) - highest) * measureOf(codes, i)) / sum;
};

const rareHere = ({ share, overall }) => overall >= profiles.notable * share;
const rareEverywhere = (one) => !rareHere(one) && Math.max(one.share, one.overall) <= Math.min(profiles.seldom, profiles.tenth * one.usual);

// The values that make a record rare: among records that share all others and rarer there than overall, or everywhere.
const factorsOf = (codes) => codes
  .map((code, i) => ({ feature: data.features[i], code, share: shareAmong(codes, i), overall: shareIn(profiles.overall, codes, i), usual: profiles.usual[i] }))
  .sort((a, b) => a.share ** 2 / a.overall - b.share ** 2 / b.overall)
  .filter((one) => rareHere(one) || rareEverywhere(one))
  .slice(0, profiles.factors);

const factorText = (factor, i, all) => {
  const { feature, code, share, overall } = factor;
  const value = `${feature.name} ${wordsOf(feature, code)}`;
  if (share === 0) return `Among records like it, ${value} is not expected; overall ${about(overall)} have it.`;
  if (rareEverywhere(factor)) return `Rare everywhere: ${value}, ${about(overall)} of all records.`;
  const shares = `${about(share)}, overall ${about(overall)}`;
  const times = `${sayable(Number((overall / share).toPrecision(2)))} times rarer`;
  return i && !rareEverywhere(all[i - 1]) ? `So is ${value}: ${shares}; ${times}.` : `Among records like it, ${value} is rare: ${shares}; it makes the record ${times}.`;
};
