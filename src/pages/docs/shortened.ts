/** Answers short enough to be read: long lists and texts are cut, nothing is left out that is always there. */
const itemsMax = 2;
const textMax = 160;

export function shortened(value: unknown): unknown {
  if (typeof value === "string") return value.length > textMax ? `${value.slice(0, textMax)}…` : value;
  if (Array.isArray(value)) return value.slice(0, itemsMax).map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shortened(part)]));
}
