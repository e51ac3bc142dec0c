/** Creates locale chains for the yardstick. Supports only well-formed locales. */

/** Returns a locale with its fallbacks: `zh-Hant-TW` gives `zh-Hant-TW`, `zh-Hant`, `zh`. */
export function createLocaleChain(locale: string): string[] {
  const parts = locale.split("-");
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("-"));
}

const known = new Map<string, readonly string[]>();
const knownMax = 1000;

/** Returns the locale chains of an `Accept-Language` header, preferred language first. Caches the results. */
export function parseRequestedLocales(header: string | undefined): readonly string[] {
  if (header === undefined) return [];
  let chain = known.get(header);
  if (chain === undefined) {
    chain = header
      .split(",")
      .map((part) => {
        const [tag = "", quality] = part.trim().split(";q=");
        return { tag, quality: Number(quality ?? 1) };
      })
      .toSorted((a, b) => b.quality - a.quality)
      .flatMap(({ tag }) => createLocaleChain(tag));
    if (known.size < knownMax) known.set(header, chain);
  }
  return chain;
}
