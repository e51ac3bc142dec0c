/** How a text is recognised that tells of a buyer: it names what is the buyer's by its id, or has some of what is erased in it. */
import { maskAddress, maskEmail } from "#commerce/addresses/mask-address.ts";
import type { PersonalData } from "#commerce/addresses/personal-data.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";

export interface Traces {
  readonly isIn: (json: string) => boolean;
}

/** Rather one text too many than one too few: whoever asked it what was answered can ask what it is now. */
export function findTraces(ids: readonly string[], personal: readonly PersonalData[]): Traces {
  const words = new Set([...ids, ...personal.flatMap(wordsOf)].map(escaped));
  const groups = personal.flatMap(maskOf);
  return { isIn: (json) => [...words].some((word) => json.includes(word)) || groups.some((group) => group.every((word) => json.includes(word))) };
}

/** As JSON writes it. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
const quoted = (text: string): string => JSON.stringify(text);

function wordsOf(data: PersonalData): string[] {
  if (data.kind === "buyer_email") return [data.email, maskEmail(data.email)];
  // A town, a region and a country are those of many.
  const { city: _city, regionCode: _region, countryCode: _country, postalCode, email, ...own } = data.address satisfies PostalAddress;
  const texts = Object.values(own).filter((value): value is string => value !== null && value.length >= wordLengthMin);
  return [
    ...texts,
    ...(email === null ? [] : [email, maskEmail(email)]),
    ...(postalCode === null || postalCode.length < wordLengthMin ? [] : [postalCode]),
  ];
}

/** Shorter ones are in every text. */
const wordLengthMin = 4;

/** What is shown of an address, all of it in one text. */
function maskOf(data: PersonalData): string[][] {
  if (data.kind === "buyer_email") return [];
  const { city, postalCodePrefix, recipientInitials } = maskAddress(data.address);
  const group = [city, postalCodePrefix, recipientInitials].filter((part) => part !== null).map(quoted);
  return group.length < 2 ? [] : [group];
}
