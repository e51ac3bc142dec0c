/** Tells what somebody types about a person from what is looked for in a shop, as far as it shows: a name does not. */
import { isGtin } from "#commerce/catalog/write-variant-faults.ts";

const mailAddress = /\S@\S/;
/** Nine digits or more, however they are grouped: telephone numbers, accounts, cards. With what letters stand right beside them. */
const longNumber = /[\p{L}\p{Nd}]*\p{Nd}(?:[\s()/.\p{Pd}]{0,3}\p{Nd}){8,}[\p{L}\p{Nd}]*/gu;

/** It is not kept then. A product's number is not personal, though as long. */
export function isPersonal(query: string): boolean {
  const text = query.normalize("NFKC");
  return mailAddress.test(text) || (text.match(longNumber) ?? []).some((number) => !isGtin(number));
}
