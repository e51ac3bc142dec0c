/**
 * The check of a GTIN-13 as its standard states it, from the left, so that it does not share a fault with the
 * code that makes them.
 */
export function hasGtinCheckDigit(gtin: string): boolean {
  if (!/^\d{13}$/.test(gtin)) return false;
  const sum = gtin
    .split("")
    .reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0;
}
