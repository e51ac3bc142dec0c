/** Where a checkout's page sends the buyer back to: the merchant's own pages, which nobody else may read on the way. */
import { faultAt, type Faults } from "#foundation/faults.ts";
import { isCleanText } from "#foundation/text.ts";

const urlMax = 2048;
/** Readers of addresses disagree about what begins otherwise, and about a backslash: some find another host in it. */
const plainStart = /^https?:\/\/[^/\\]/i;

export function returnUrlFaults(field: string, text: string): Faults {
  if (text.length > urlMax) return [faultAt(field, "too_long", `It may have ${urlMax} characters at most.`)];
  const isPlain = isCleanText(text) && !/[\s\\]/.test(text) && (plainStart.test(text) || !/^https?:/i.test(text));
  const url = isPlain ? URL.parse(text) : null;
  if (url === null) return [faultAt(field, "invalid_url", "It is not the address of a page.")];
  if (url.username !== "" || url.password !== "") return [faultAt(field, "not_allowed", "It must not have credentials in it.")];
  if (url.protocol === "https:" || (url.protocol === "http:" && isOwnMachine(url.hostname))) return [];
  return [faultAt(field, "not_allowed", "It must begin with https://; http:// is for localhost alone.")];
}

/** Who tries out a page does so on the machine that it is written on. */
const isOwnMachine = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
