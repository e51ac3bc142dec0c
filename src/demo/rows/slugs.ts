/** What a title reads in an address: ASCII letters, digits and single hyphens. */
import { slugLengthMax } from "#foundation/text.ts";

const spelled: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ß: "ss", æ: "ae", ø: "o", å: "a", "×": "x" };
const plain: Readonly<Record<string, string>> = { ...spelled, ä: "a", ö: "o", ü: "u" };

/** German spells its umlauts out, others drop the dots. Empty for a text without a letter of the Latin script. */
export function toSlug(text: string, locale: string): string {
  const letters = locale === "de" ? spelled : plain;
  return text
    .toLowerCase()
    .normalize("NFC")
    .replaceAll(/[äöüßæøå×]/g, (letter) => letters[letter] ?? letter)
    .normalize("NFD")
    .replaceAll(/[\u0300-\u036f'’]/g, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, slugLengthMax)
    .replaceAll(/^-|-$/g, "");
}
