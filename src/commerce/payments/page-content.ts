/**
 * Loads what a payment provider's page shows about a checkout: the lines of the order and the URLs that lead
 * back to the checkout page. While a payment is pending, its checkout session cannot be changed, so every
 * attempt of the authorization loads the same content.
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
 * The query with which a payment provider's page leads the buyer back to the checkout page: `?returned=paid`
 * after a payment, `?returned=canceled` otherwise.
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
/** The names of the lines of a payment page that are no lines of the order, by language. */
const lineTexts: Readonly<Record<string, typeof englishTexts>> = {
  de: { order: "Bestellung", delivery: "Lieferung" },
  ja: { order: "ご注文", delivery: "配送" },
};

const textsOf = (locale: string): typeof englishTexts =>
  lineTexts[new Intl.Locale(locale).language] ?? englishTexts;

/** The highest number of lines that a payment page shows; a longer order is shown as one line. */
const linesMax = 50;

/**
 * Returns one line for each line of the order, and one line for the delivery and other amounts that belong to
 * the whole order. If these lines cannot add up to the total, returns one line with the total.
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
