/**
 * Reads values that were parsed from JSON: answers of the service and files. Their types are not known, so
 * each field is checked when it is read.
 */
/** Returns a text of a value that was parsed from JSON; undefined if the field is absent or no text. */
export function textOf(value: unknown, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === "string" ? found : undefined;
}

/** Returns a field of a value that was parsed from JSON; undefined if the value has no such field. */
export function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** Parses JSON; returns null if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
