/** Takes a query string apart (application/x-www-form-urlencoded): every name once, decoded, clean. What is wrong is told by name. */
import { isCleanText } from "#foundation/text.ts";
import type { Fault } from "./rules.ts";

export interface Query {
  readonly values: ReadonlyMap<string, string>;
  readonly faults: readonly Fault[];
}

const shownNameLengthMax = 100;

export function parseQuery(url: string): Query {
  const values = new Map<string, string>();
  const faults: Fault[] = [];
  const at = url.indexOf("?");
  if (at === -1) return { values, faults };
  for (const pair of url.slice(at + 1).split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals)) ?? "";
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1));
    const wrong = faultOf(name, value, values);
    if (wrong !== undefined) faults.push(wrong);
    else values.set(name, value ?? "");
  }
  return { values, faults };
}

function faultOf(name: string, value: string | undefined, values: ReadonlyMap<string, string>): Fault | undefined {
  const shown = isCleanText(name) ? name.slice(0, shownNameLengthMax) : "";
  if (name === "" || value === undefined) return fault(shown, "invalid_encoding", "is not valid percent-encoded UTF-8.");
  if (!isCleanText(name) || !isCleanText(value)) return fault(shown, "control_character", "has a control character.");
  return values.has(name) ? fault(shown, "duplicate", "stands there more than once.") : undefined;
}

function fault(field: string, code: string, message: string): Fault {
  return { failure: "invalid_parameter", detail: { in: "query", field, code, message: `${field} ${message}` } };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
