/** What may be shown of an address and of an e-mail: enough to recognise one's own, too little to learn somebody else's. */
import { missingFields } from "./check-address.ts";
import type { PostalAddress } from "./postal-address.ts";

export interface MaskedAddress {
  readonly countryCode: string;
  readonly regionCode: string | null;
  readonly city: string | null;
  readonly postalCodePrefix: string | null;
  readonly recipientInitials: string | null;
  /** It has all that its country requires. */
  readonly complete: boolean;
}

export function maskAddress(address: PostalAddress): MaskedAddress {
  return {
    countryCode: address.countryCode,
    regionCode: address.regionCode,
    city: address.city,
    postalCodePrefix: firstHalf(address.postalCode ?? ""),
    recipientInitials: initialsOf(address.recipientName),
    complete: missingFields(address).length === 0,
  };
}

/** What is left of an address that was erased. */
export function erasedMask(countryCode: string): MaskedAddress {
  return { countryCode, regionCode: null, city: null, postalCodePrefix: null, recipientInitials: null, complete: false };
}

/** `anna@example.com` → `a•••@e•••.com`. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf("@");
  if (at < 1) return hidden;
  const [first = ""] = email;
  const [firstOfDomain = ""] = email.slice(at + 1);
  const dot = email.lastIndexOf(".");
  return `${first}${hidden}@${firstOfDomain}${hidden}${dot > at ? email.slice(dot) : ""}`;
}

const hidden = "•••";

function firstHalf(postalCode: string): string | null {
  const characters = Array.from(postalCode);
  const half = characters.slice(0, Math.floor(characters.length / 2)).join("");
  return half.replace(/[\s-]+$/, "") || null;
}

/** Of the first and the last word. Where a script has no capitals, a word of one letter is a whole name and gives no initial. */
function initialsOf(name: string): string | null {
  const words = name.split(" ").flatMap((word) => {
    const letters = word.match(/\p{L}\p{M}*/gu) ?? [];
    const [initial] = letters;
    return initial === undefined || (letters.length === 1 && !hasCase(initial)) ? [] : [`${initial.toUpperCase()}.`];
  });
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words;
  return ends.length === 0 ? null : ends.join(" ");
}

function hasCase(letter: string): boolean {
  return letter.toUpperCase() !== letter.toLowerCase();
}
