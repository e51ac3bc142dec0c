/** The rows with an order's tax per rate. An order with a single rate has no rows. */

export interface ConsoleOrderTaxLine<Amount> {
  /** The name of the tax; null if no tax applies. */
  readonly name: string | null;
  /** The rate in basis points; null if the order was placed before rates were recorded. */
  readonly basisPoints: number | null;
  readonly tax: Amount;
}

export interface OrderTaxRow<Amount> {
  /** The name and the rate of the tax, for example `MwSt. 19 %`. */
  readonly label: string;
  readonly tax: Amount;
}

export function toOrderTaxRows<Amount>(
  taxLines: readonly ConsoleOrderTaxLine<Amount>[],
): readonly OrderTaxRow<Amount>[] {
  if (taxLines.length < 2) return [];
  return taxLines.map(({ name, basisPoints, tax }) => ({ label: formatRate(name, basisPoints), tax }));
}

function formatRate(name: string | null, basisPoints: number | null): string {
  if (basisPoints === null) return "Rate not recorded";
  return name === null ? "Not taxed" : `${name} ${basisPoints / 100} %`;
}
