/** Renders the order summary: the lines of the cart with their prices, and the totals. */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { getBasePathOfPublicUrl } from "#pages/shared/assets.ts";
import { type DisplayedAmount, formatCurrencyAmount, formatTaxRate, negateAmount } from "./amounts.ts";
import type { CheckoutPageCart, CheckoutPageCartLine, CheckoutPageTaxLine } from "./documents.ts";
import { getCartWarningMessage } from "./warning-texts.ts";
import { findFirstMissingCheckoutSection, hasCartLineThatNeedsShipping } from "./missing-parts.ts";
import type { CheckoutPageVisit } from "./visit.ts";

type SummaryContext = Pick<CheckoutPageVisit, "session" | "say" | "locale" | "language" | "pageContext">;

export interface OrderSummaryOptions {
  readonly promotion: PreEscapedHtml | undefined;
  /**
   * True if the order summary is open (not collapsed) when the page is loaded, because it contains a message
   * that the buyer must read.
   */
  readonly isUnfolded: boolean;
}

/**
 * Renders the order summary. With `folded`, the summary can be collapsed, so that the form is at the top of
 * the page on a phone.
 */
export function renderOrderSummary(visit: SummaryContext, folded?: OrderSummaryOptions): PreEscapedHtml {
  const { session, say, locale } = visit;
  const { lines, warnings, totals } = session.cart;
  // The summary of a canceled or expired checkout session has no totals, because there is no order.
  const isEnded = session.status === "canceled" || session.status === "expired";
  const general = warnings.filter(({ lineId }) => !lines.some(({ id }) => id === lineId));
  const body = html`${general.map((warning) => warningView(warning.code, visit))}
    <ul class="lines">
      ${lines.map((line) => lineView(line, visit))}
    </ul>
    ${folded?.promotion} ${isEnded ? undefined : totalsView(session.cart, visit)}`;
  if (folded === undefined)
    return html`<section class="summary" aria-labelledby="order">
      <h2 id="order">${say(isEnded ? "inCart" : "order")}</h2>
      ${body}
    </section>`;
  const isOpen = folded.isUnfolded || warnings.length > 0;
  return html`<section class="summary" aria-labelledby="order">
    <details id="order-fold" ${isOpen ? html` open` : undefined}>
      <summary>
        <h2 id="order">${say("order")}</h2>
        <span class="amount">${formatCurrencyAmount(totals.total, locale)}</span>
      </summary>
      ${body}
    </details>
  </section>`;
}

function lineView(line: CheckoutPageCartLine, visit: SummaryContext): PreEscapedHtml {
  const { say, locale, session } = visit;
  const picture = pictureOf(line, visit);
  const each = say("each", { price: formatCurrencyAmount(line.unitPrice, locale) });
  return html`<li>
    ${
      picture === undefined
        ? html`<span class="picture"></span>`
        : html`<img class="picture" src="${picture}" alt="" width="64" height="64" />`
    }
    <div>
      <p class="name" lang="${session.locale}">${line.title}</p>
      ${
        line.variantTitle === null
          ? undefined
          : html`<p class="soft" lang="${session.locale}">${line.variantTitle}</p>`
      }
      <p class="soft">
        ${say("quantity", { quantity: String(line.quantity) })}${line.quantity > 1 ? html` · ${each}` : undefined}
      </p>
      ${session.cart.warnings.filter(({ lineId }) => lineId === line.id).map(({ code }) => warningView(code, visit))}
    </div>
    <p class="amount">${formatCurrencyAmount(line.subtotal, locale)}</p>
  </li>`;
}

/**
 * Returns the URL of a line's picture if this service hosts the picture. The page sends no requests to other
 * hosts, because its own URL is secret.
 */
function pictureOf({ image }: CheckoutPageCartLine, { pageContext }: SummaryContext): string | undefined {
  const { publicUrl } = pageContext.services;
  return image?.url.startsWith(`${publicUrl}/`) === true
    ? getBasePathOfPublicUrl(publicUrl) + image.url.slice(publicUrl.length)
    : undefined;
}

function warningView(code: string, { language }: SummaryContext): PreEscapedHtml {
  const message = getCartWarningMessage(code, language);
  return message === undefined ? html`` : html`<p class="warning">${message}</p>`;
}

function totalsView(cart: CheckoutPageCart, { say, locale, session }: SummaryContext): PreEscapedHtml {
  const { totals, promotion } = cart;
  const text = (amount: DisplayedAmount): string =>
    amount.amountMinor === 0 ? say("free") : formatCurrencyAmount(amount, locale);
  // Until the address and the delivery option are known, the total is provisional.
  const isFinal = session.status !== "open" || findFirstMissingCheckoutSection(cart) === undefined;
  return html`<dl class="totals">
    ${row(say("subtotal"), formatCurrencyAmount(totals.subtotal, locale))}
    ${
      totals.discount.amountMinor === 0
        ? undefined
        : row(
            say("discount"),
            formatCurrencyAmount(negateAmount(totals.discount), locale),
            discountTitles(promotion),
          )
    }
    ${
      hasCartLineThatNeedsShipping(cart)
        ? row(say("shipping"), totals.shipping === null ? say("later") : text(totals.shipping))
        : undefined
    }
    ${isFinal && totals.tax === null ? undefined : taxRows(cart, { say, locale })}
    <div class="total">
      <dt>${say(totals.estimated && !isFinal ? "estimated" : "total")}</dt>
      <dd>${formatCurrencyAmount(totals.total, locale)}</dd>
    </div>
  </dl>`;
}

function discountTitles({ automatic, state, promotion }: CheckoutPageCart["promotion"]): string {
  return [
    ...automatic.map(({ title }) => title),
    ...(state === "applied" ? [promotion?.code ?? ""] : []),
  ].join(", ");
}

/** Renders the tax: a single row if there is one rate, otherwise the sum and one row per rate below it. */
function taxRows(
  { totals: { tax, taxIncluded }, taxLines }: CheckoutPageCart,
  visit: Pick<SummaryContext, "say" | "locale">,
): PreEscapedHtml {
  const { say, locale } = visit;
  const name = say(taxIncluded ? "taxIncluded" : "tax");
  if (tax === null) return row(name, say("taxLater"));
  const [single, ...others] = taxLines;
  const sum = formatCurrencyAmount(tax, locale);
  if (single === undefined || others.length === 0)
    return row(name, sum, single === undefined ? "" : taxRateOf(single, visit));
  return html`${row(name, sum)}
  ${taxLines.map(
    (line) =>
      html`<div class="part soft">
        <dt>${taxRateOf(line, visit)}</dt>
        <dd>${formatCurrencyAmount(line.tax, locale)}</dd>
      </div>`,
  )}`;
}

/** Returns the name and the rate of a tax, for example “VAT 19%”. */
const taxRateOf = (
  { name, basisPoints }: CheckoutPageTaxLine,
  { say, locale }: Pick<SummaryContext, "say" | "locale">,
): string =>
  name === null || basisPoints === null ? say("taxNone") : `${name} ${formatTaxRate(basisPoints, locale)}`;

const row = (name: string, value: string, note = ""): PreEscapedHtml =>
  html`<div>
    <dt>${name}${note === "" ? undefined : html` <span class="soft">${note}</span>`}</dt>
    <dd>${value}</dd>
  </div>`;
