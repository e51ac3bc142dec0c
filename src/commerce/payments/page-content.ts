/**
 * Loads the content of a payment provider's payment page: the lines of the order, and the URLs back to the
 * checkout page. A checkout session cannot be changed while its payment is pending. Every attempt of the
 * authorization therefore loads the same content.
 */
import { sql } from "kysely";
import { getCheckoutPageSecretEncryptionContext } from "#commerce/checkout/session-aggregate.ts";
import type { Database } from "#database/connect.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import type { ClaimedPaymentOperation } from "./payment-operations.ts";
import type { PaymentPageContent } from "./provider.ts";

interface PageServices {
  readonly keyring: EncryptionKeyring;
  readonly publicUrl: string;
}

interface CheckoutRow {
  readonly urlSealed: Uint8Array | null;
  readonly urlDataKey: Uint8Array | null;
  readonly urlKeyId: string | null;
  readonly locale: string;
  readonly lines: readonly {
    readonly title: string;
    readonly variantTitle: string | null;
    readonly quantity: number;
    readonly totalMinor: number;
  }[];
}

/**
 * Name of the query parameter with which the payment provider's page sends the buyer back to the checkout
 * page: `?returned=paid` after a payment, `?returned=canceled` otherwise.
 */
export const returnQueryName = "returned";

export async function loadPaymentPageContent(
  db: Database,
  { paymentId, sessionId, amountMinor, createdAt }: ClaimedPaymentOperation,
  { keyring, publicUrl }: PageServices,
): Promise<PaymentPageContent> {
  const { rows } = await sql<CheckoutRow>`
    select s.url_sealed, s.url_data_key, s.url_key_id, s.locale,
      coalesce((select json_agg(json_build_object('title', l.display ->> 'title',
          'variantTitle', l.display ->> 'variantTitle', 'quantity', l.quantity, 'totalMinor', l.total_minor)
          order by l.position)
        from cart_line l where l.cart_id = s.cart_id), '[]') as lines
    from hosted_checkout_session s where s.id = ${sessionId}`.execute(db);
  const [row] = rows;
  if (row === undefined || row.urlSealed === null || row.urlDataKey === null || row.urlKeyId === null)
    throw new Error(`Payment ${paymentId} cannot be authorized: its checkout session has ended.`);
  const secret = keyring
    .open(
      { sealed: row.urlSealed, dataKey: row.urlDataKey, keyId: row.urlKeyId },
      getCheckoutPageSecretEncryptionContext(sessionId),
    )
    .toString("utf8");
  const pageUrl = `${publicUrl}/checkout/${secret}`;
  return {
    sessionId,
    paidUrl: `${pageUrl}?${returnQueryName}=paid`,
    canceledUrl: `${pageUrl}?${returnQueryName}=canceled`,
    startedAt: createdAt,
    orderName: textsOf(row.locale).order,
    lines: linesOf(row, amountMinor),
  };
}

const englishTexts = { order: "Order", delivery: "Delivery" };
/** Names of those lines of a payment page that are no order lines, by language. */
const lineTexts: Readonly<Record<string, typeof englishTexts>> = {
  de: { order: "Bestellung", delivery: "Lieferung" },
  ja: { order: "ご注文", delivery: "配送" },
};

const textsOf = (locale: string): typeof englishTexts =>
  lineTexts[new Intl.Locale(locale).language] ?? englishTexts;

/** Maximum number of lines on a payment page. An order with more lines is shown as a single line. */
const linesMax = 50;

/**
 * Returns the lines of a payment page: one line for each order line, and one line for delivery and other
 * amounts of the whole order. Returns a single line with the total if there are too many lines, or if the
 * order lines exceed the total.
 */
function linesOf(
  { lines, locale }: Pick<CheckoutRow, "lines" | "locale">,
  totalMinor: number,
): PaymentPageContent["lines"] {
  const { order, delivery } = textsOf(locale);
  const restMinor = lines.reduce((left, line) => left - line.totalMinor, totalMinor);
  if (lines.length > linesMax || restMinor < 0) return [{ name: order, amountMinor: totalMinor }];
  return [
    ...lines.map((line) => ({ name: nameOf(line), amountMinor: line.totalMinor })),
    ...(restMinor === 0 ? [] : [{ name: delivery, amountMinor: restMinor }]),
  ];
}

const nameLengthMax = 200;

function nameOf({ title, variantTitle, quantity }: CheckoutRow["lines"][number]): string {
  const name = variantTitle === null ? title : `${title}, ${variantTitle}`;
  return `${quantity} × ${name}`.slice(0, nameLengthMax);
}
