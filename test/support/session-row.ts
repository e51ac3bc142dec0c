/**
 * The required columns of a checkout session's row, with default values for tests that insert a session
 * directly.
 */
export interface SessionWords {
  readonly country: string;
  readonly currency: string;
  readonly locale: string;
}

export function sessionRow({ country, currency, locale }: SessionWords): SessionWords & {
  readonly amountTotalMinor: number;
  readonly successUrl: string;
  readonly cancelUrl: string;
} {
  return {
    country,
    currency,
    locale,
    amountTotalMinor: 0,
    successUrl: "https://shop.example/thanks",
    cancelUrl: "https://shop.example/cart",
  };
}
