/**
 * The JSON texts of results that are kept in memory, so that a result is converted to text only once. A text
 * belongs to the object in the member `data` of a result, which is never changed.
 */
import type { ExecutionResult } from "graphql";

interface KeptText {
  readonly text: string;
  /** The text as UTF-8; undefined until it is first needed. */
  bytes: Buffer | undefined;
}

const texts = new WeakMap<object, KeptText>();

/** Converts the `data` of a result to JSON, and keeps the text as long as the object exists. */
export function keepTextOfResultData(data: object): string {
  let kept = texts.get(data);
  if (kept === undefined) texts.set(data, (kept = { text: JSON.stringify(data), bytes: undefined }));
  return kept.text;
}

/**
 * Returns the JSON text of a result's `data`. If the text is kept, returns it as bytes, so that it need not
 * be encoded again for each answer.
 */
export function encodeResultData(data: object): string | Buffer {
  const kept = texts.get(data);
  return kept === undefined ? JSON.stringify(data) : (kept.bytes ??= Buffer.from(kept.text));
}

/** Returns the same text as `JSON.stringify(result)`. Uses the kept text of `data`, if there is one. */
export function stringifyResult(result: ExecutionResult): string {
  const { data } = result;
  const kept = data === undefined || data === null ? undefined : texts.get(data);
  if (kept === undefined) return JSON.stringify(result);
  const members: string[] = [];
  for (const [name, value] of Object.entries(result))
    if (value !== undefined) members.push(`"${name}":${name === "data" ? kept.text : JSON.stringify(value)}`);
  return `{${members.join(",")}}`;
}
