/**
 * Builds HTML from templates. The text of a template is HTML; inserted values are texts whose special
 * characters are escaped.
 */

/** Text that is already HTML and is inserted without escaping. */
export class PreEscapedHtml {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | PreEscapedHtml | undefined | readonly PreEscapedHtml[];

/** Builds HTML from a template. Escapes every inserted value except `PreEscapedHtml`. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): PreEscapedHtml {
  return new PreEscapedHtml(
    strings.map((text, index) => text + (index < parts.length ? toText(parts[index]) : "")).join(""),
  );
}

function toText(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof PreEscapedHtml) return part.text;
  return typeof part === "object" ? part.map(({ text }) => text).join("") : escape(String(part));
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character);
}
