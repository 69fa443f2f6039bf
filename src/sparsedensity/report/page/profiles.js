// Records of leaves with profiles: each has a density of its own, and values that make it rare.
const MOST_REASONS = 3;
const { profiles } = data;
const starts = [0];
for (const { size } of data.features) starts.push(starts[starts.length - 1] + size);

const shareIn = (shares, codes, i) => shares[starts[i] + codes[i]];

// ln P(leaf), and for each column the log of the share of its value there, over the measure of the value.
const profileLog = (codes, leaf) => codes.reduce(
  (sum, _, i) => sum + Math.log(shareIn(profiles.inside[leaf], codes, i) / (profiles.measures ? shareIn(profiles.measures, codes, i) : 1)),
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

// By how much the value of a column is rarer than such values are on average in its leaf, as a log.
const surprise = (codes, leaf, i) => {
  const shares = profiles.inside[leaf].slice(starts[i], starts[i + 1]).filter((share) => share > 0);
  const expected = shares.reduce((sum, share) => sum + share * Math.log(share), 0);
  return expected - Math.log(shareIn(profiles.inside[leaf], codes, i));
};

// The columns whose values make a record rarest, if they make it at least twice as rare.
const rareColumns = (codes, leaf) => codes
  .map((_, i) => ({ i, rarer: surprise(codes, leaf, i) }))
  .filter(({ rarer }) => rarer > Math.log(2))
  .sort((a, b) => b.rarer - a.rarer)
  .slice(0, MOST_REASONS)
  .map(({ i }) => i);

const reasonsOf = (codes, leaf) => rareColumns(codes, leaf).map((i) => {
  const [here, overall] = [profiles.inside[leaf], profiles.overall].map((shares) => about(shareIn(shares, codes, i)));
  return `${data.features[i].name} ${wordsOf(data.features[i], codes[i])} is rare in this kind: ${here}, overall ${overall}.`;
});
