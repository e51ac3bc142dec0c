/** Codes are compared as people read them: without case, without the compatibility forms of Unicode, without space around. */

export const codeLengthMax = 64;
const codePattern = /^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u;

/** What a code is found by; undefined when the text cannot be one. */
export function normalizeCode(text: string): string | undefined {
  // Upper case first: some letters fold only that way (ß and SS are one).
  const normalized = text.trim().normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
  return normalized.length > 0 && Array.from(normalized).length <= codeLengthMax && codePattern.test(normalized) ? normalized : undefined;
}
