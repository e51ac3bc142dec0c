/** Takes a query string apart (application/x-www-form-urlencoded): every name once, decoded, clean. What is wrong is told by name. */
import { type Failure, failAt } from "#foundation/failure.ts";
import { isCleanText } from "#foundation/text.ts";
import type { Fault } from "./rules.ts";

export interface Query {
  readonly values: ReadonlyMap<string, string>;
  readonly faults: readonly Fault[];
}

const shownNameLengthMax = 100;
const parametersMax = 100;

export function parseQuery(url: string): Query {
  const values = new Map<string, string>();
  const faults: Fault[] = [];
  const at = url.indexOf("?");
  if (at === -1) return { values, faults };
  const pairs = url
    .slice(at + 1)
    .split("&")
    .filter((pair) => pair !== "");
  if (pairs.length > parametersMax) throw tooMany();
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    const raw = equals === -1 ? pair : pair.slice(0, equals);
    const name = decode(raw);
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1));
    const rule = brokenRule(name, value, values);
    if (rule === undefined) values.set(name ?? "", value ?? "");
    else faults.push(fault(name !== undefined && isCleanText(name) ? name : raw, rule));
  }
  return { values, faults };
}

/** Looking at each of thousands would keep everybody else waiting. */
function tooMany(): Failure {
  const message = `The query may have ${parametersMax} parameters at most.`;
  return failAt("invalid_parameter", { in: "query", field: "", code: "too_many", message });
}

const rules = {
  invalid_encoding: "is not valid percent-encoded UTF-8.",
  control_character: "has a control character.",
  duplicate: "stands there more than once.",
};

function brokenRule(name: string | undefined, value: string | undefined, values: ReadonlyMap<string, string>): keyof typeof rules | undefined {
  if (name === undefined || name === "" || value === undefined) return "invalid_encoding";
  if (!isCleanText(name) || !isCleanText(value)) return "control_character";
  return values.has(name) ? "duplicate" : undefined;
}

/** A name that cannot be decoded is shown as it was sent. */
function fault(name: string, code: keyof typeof rules): Fault {
  const field = name.slice(0, shownNameLengthMax);
  return { failure: "invalid_parameter", detail: { in: "query", field, code, message: `${field} ${rules[code]}` } };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
