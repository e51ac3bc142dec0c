/**
 * The card numbers that the test provider accepts, with the payment token of each number. No other number is
 * accepted, so that a real card number never gets into a payment.
 */

export type TestCardToken =
  | "tok_success"
  | "tok_slow"
  | "tok_late_success"
  | "tok_challenge"
  | "tok_challenge_decline"
  | "tok_decline"
  | "tok_decline_insufficient_funds"
  | "tok_decline_expired_card"
  | "tok_decline_incorrect_cvc";

export interface TestCard {
  /** The card number, without spaces and hyphens. */
  readonly number: string;
  /** Number of digits of the card's security code. */
  readonly cvcLength: 3 | 4;
  /** The payment token that the payment provider gets instead of the card number. */
  readonly token: TestCardToken;
}

const card = (number: string, token: TestCardToken, cvcLength: 3 | 4 = 3): TestCard => ({
  number,
  cvcLength,
  token,
});

/**
 * The test cards. Their numbers are test numbers that Stripe publishes, except for the last two, which only
 * this test provider has.
 */
export const testCards: readonly TestCard[] = [
  card("4242424242424242", "tok_success"),
  card("5555555555554444", "tok_success"),
  card("378282246310005", "tok_success", 4),
  card("4000002500003155", "tok_challenge"),
  card("4000000000003220", "tok_challenge"),
  card("4000008400001629", "tok_challenge_decline"),
  card("4000000000000002", "tok_decline"),
  card("4000000000009995", "tok_decline_insufficient_funds"),
  card("4000000000000069", "tok_decline_expired_card"),
  card("4000000000000127", "tok_decline_incorrect_cvc"),
  card("4000000000007726", "tok_slow"),
  card("4000000000005126", "tok_late_success"),
];

/**
 * Returns the test card with the number that the buyer has typed; undefined if there is no such test card.
 * Spaces and hyphens in the typed number are ignored.
 */
export function findTestCard(typed: string): TestCard | undefined {
  const digits = typed.replaceAll(/[\s-]/g, "");
  return testCards.find(({ number }) => number === digits);
}
