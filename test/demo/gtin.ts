/**
 * Checks the check digit of a GTIN-13 from the left, as the GS1 standard states it. The code under test
 * computes it from the right, so that the two cannot have the same fault.
 */
export function hasGtinCheckDigit(gtin: string): boolean {
  if (!/^\d{13}$/.test(gtin)) return false;
  const sum = gtin
    .split("")
    .reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0;
}
