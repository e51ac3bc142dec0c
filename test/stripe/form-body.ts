/** Parses the bodies and queries that Stripe's client sends, for example `line_items[0][quantity]=1`. */

export interface FormObject {
  [name: string]: string | FormObject;
}

export function parseFormBody(text: string): FormObject {
  const parsed: FormObject = {};
  for (const [path, value] of new URLSearchParams(text)) {
    const [first = "", ...rest] = path.replaceAll("]", "").split("[");
    let place = parsed;
    let name = first;
    for (const next of rest) {
      const inner = place[name];
      const entered: FormObject = typeof inner === "object" ? inner : {};
      place[name] = entered;
      place = entered;
      name = next === "" ? String(Object.keys(entered).length) : next;
    }
    place[name] = value;
  }
  return parsed;
}

/** Returns the text at a path; an empty text if there is none. */
export function textAt(form: FormObject, ...path: readonly string[]): string {
  let place: string | FormObject | undefined = form;
  for (const name of path) place = typeof place === "object" ? place[name] : undefined;
  return typeof place === "string" ? place : "";
}

export function objectAt(form: FormObject, name: string): FormObject {
  const inner = form[name];
  return typeof inner === "object" ? inner : {};
}
