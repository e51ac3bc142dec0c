/** When a key ends, as one chooses it. */

export const endings = [
  { value: "", label: "Never" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const;
export type Ending = (typeof endings)[number]["value"];

const dayMs = 24 * 3600 * 1000;

/** The end of that day (UTC): asked again after a failure, it is the same request. */
export function endOf(days: Ending): string | null {
  if (days === "") return null;
  const end = new Date(Date.now() + Number(days) * dayMs);
  end.setUTCHours(23, 59, 59, 0);
  return end.toISOString();
}
