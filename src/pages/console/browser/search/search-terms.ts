/**
 * Determines whether the text of the search field is an id, an order number or a name. Also removes secrets
 * from the text.
 */

/** The kinds of objects that the search finds, by the prefix of their ids. */
export const searchedKinds = {
  ord: "order",
  cart: "cart",
  chs: "checkout session",
  pay: "payment",
  rfd: "refund",
  ful: "fulfillment",
  ret: "return",
  ins: "installation",
  key: "API key",
  whe: "webhook endpoint",
  whd: "delivery",
  evt: "event",
  req: "request",
  stf: "staff member",
} as const;

export type SearchableIdPrefix = keyof typeof searchedKinds;

const isSearchedPrefix = (prefix: string): prefix is SearchableIdPrefix =>
  Object.hasOwn(searchedKinds, prefix);

export type ParsedConsoleSearchText =
  | { readonly kind: "empty" }
  | { readonly kind: "id"; readonly prefix: SearchableIdPrefix; readonly id: string }
  /** An id whose prefix is not one of the object types that the console's search finds. */
  | { readonly kind: "unknownPrefix"; readonly prefix: string; readonly id: string }
  /** An id with a known prefix whose rest is too short, too long or has characters that no id has. */
  | { readonly kind: "malformedId"; readonly prefix: SearchableIdPrefix }
  | { readonly kind: "name"; readonly text: string };

/** Matches an id in a text. After its prefix and `_`, an id has 26 letters and digits, without i, l, o and u. */
const idPattern = /(?:^|[^a-z0-9])([a-z]{2,5})_([0-9a-hjkmnp-tv-z]{26})(?![0-9a-z])/;
const beginning = /^([a-z]{2,5})_[0-9a-z]*$/;
/** Matches an API key or internal token. The part before the last underscore is not secret and may be shown. */
const secretPattern = /\b(c(?:pk|it)_[a-z]+_[0-9A-Za-z]{12})_[0-9A-Za-z]+/;
const signingSecretPattern = /\bwhsec_[0-9A-Za-z+/=]+/;

/**
 * Removes secrets from a pasted text, to keep them out of URLs and the browser's history. The public
 * beginning of an API key, which the lists of the console show too, stays.
 */
export const removeSecretsFromSearchText = (text: string): string =>
  text.replace(secretPattern, "$1").replace(signingSecretPattern, "").trim().slice(0, searchTextMax);

/** The maximum number of characters of a search text; the rest of a longer text is ignored. */
export const searchTextMax = 200;

export function parseConsoleSearchTerm(entered: string): ParsedConsoleSearchText {
  const text = removeSecretsFromSearchText(entered);
  if (text === "") return { kind: "empty" };
  const lower = text.toLowerCase();
  const [, prefix, tail] = idPattern.exec(lower) ?? [];
  if (prefix !== undefined && tail !== undefined) {
    const id = `${prefix}_${tail}`;
    return isSearchedPrefix(prefix) ? { kind: "id", prefix, id } : { kind: "unknownPrefix", prefix, id };
  }
  const [, begun] = beginning.exec(lower) ?? [];
  if (begun !== undefined && isSearchedPrefix(begun)) return { kind: "malformedId", prefix: begun };
  return { kind: "name", text };
}

/**
 * Converts a text to the form of an order number: removes a leading “#”, and inserts a hyphen in the middle
 * if the text has ten characters and no hyphen.
 */
export const parseOrderNumber = (text: string): string =>
  text.replace(/^#\s*/, "").replace(/^([0-9A-Za-z]{5})([0-9A-Za-z]{5})$/, "$1-$2");

/** Returns whether a value contains the searched text. Upper and lower case and accents are ignored. */
export const containsIgnoringCaseAndAccents = (
  text: string,
  ...values: readonly (string | null)[]
): boolean => values.some((value) => value !== null && fold(value).includes(fold(text)));

const fold = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * Returns the message for a search without results. The message is the same for unknown ids and for ids of
 * other merchants.
 */
export function getNoSearchResultsMessage(term: ParsedConsoleSearchText): string {
  if (term.kind === "empty") return "";
  if (term.kind === "id") return `Your shop has no ${searchedKinds[term.prefix]} with the id ${term.id}.`;
  if (term.kind === "unknownPrefix") return `The search knows no ids that begin with ${term.prefix}_.`;
  if (term.kind === "name")
    return (
      `No order has the number “${term.text}”, and no app, webhook endpoint, API key or staff member has it ` +
      "in its name."
    );
  return (
    `This is not a whole id. The id of ${articleOf(searchedKinds[term.prefix])} begins with ` +
    `${term.prefix}_ and has 26 letters and digits after that.`
  );
}

const articleOf = (kind: string): string => `${/^[aeiouA]/.test(kind) ? "an" : "a"} ${kind}`;
