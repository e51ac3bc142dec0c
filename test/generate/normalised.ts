/** Replaces everything random in an answer by constants of the same format. */
const idPattern = /\b([a-z]{3,4})_[0-9a-hjkmnp-tv-z]{26}\b/g;
const signature = "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=";
const keyPattern = /\bcpk_(live|test)_[0-9A-Za-z]{12}\b/g;
/** An order number as buyers see it. */
const orderNumber = "G96GH-63MAP";
const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

type Normalise = (value: unknown) => unknown;

/** `places`: known ids and their replacements; other ids are numbered in order of occurrence. */
export function createNormaliser(places: ReadonlyMap<string, string>): Normalise {
  const ids = new Map(places);
  const idOf = (id: string, prefix: string): string => {
    const known = ids.get(id) ?? `${prefix}_01jgfj2v00fxtr${String(ids.size).padStart(12, "0")}`;
    ids.set(id, known);
    return known;
  };
  const textOf = (text: string): string =>
    text.replaceAll(idPattern, idOf).replaceAll(keyPattern, "cpk_$1_4pAag4EXGChG");
  const normalise = (value: unknown, name: string): unknown => {
    if (typeof value === "string") return fixed(name, value) ?? textOf(value);
    if (Array.isArray(value)) return value.map((part) => normalise(part, name));
    if (typeof value !== "object" || value === null) return value;
    if ("bodyBase64" in value && "headers" in value && !("expect" in value))
      return signedOf(value as Signed, textOf);
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [
        key,
        normalise(part, isSecret(value, key) ? "secret" : key),
      ]),
    );
  };
  return (value) => normalise(value, "");
}

/** Secrets that are shown once, in the field `value` of certain objects. */
const isSecret = (value: object, key: string): boolean => key === "value" && "shownOnce" in value;

function fixed(name: string, text: string): string | undefined {
  if (name === "secret" && text.startsWith("whsec_")) return secret;
  if (name === "hint") return `…${secret.slice(-4)}`;
  return /^[0-9A-Z]{5}-[0-9A-Z]{5}$/.test(text) ? orderNumber : undefined;
}

interface Signed {
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBase64: string;
  readonly bodyUtf8?: string;
}

/** Signed texts contain ids. */
function signedOf(
  { headers, bodyBase64, bodyUtf8, ...rest }: Signed,
  textOf: (text: string) => string,
): object {
  const body = Buffer.from(textOf(Buffer.from(bodyBase64, "base64").toString())).toString("base64");
  const named = Object.entries(headers).map(([name, value]) => [
    name,
    name === "webhook-signature" ? signature : textOf(value),
  ]);
  const text = bodyUtf8 === undefined ? {} : { bodyUtf8: textOf(bodyUtf8) };
  return { ...rest, ...text, headers: Object.fromEntries(named) as object, bodyBase64: body };
}
