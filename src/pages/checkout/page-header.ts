/** Renders the top of every checkout page: the merchant's name and logo, and the choice of language. */
import { html, type HtmlMarkup } from "#pages/shared/html.ts";
import { renderMerchantLogo } from "./branding-routes.ts";
import { languageActionPrefix } from "./page-language.ts";
import { languageNames, languages } from "./texts.ts";
import type { CheckoutPageVisit } from "./visit.ts";

interface PageHeaderOptions {
  /**
   * The id of the page's address form; left out if the page has none. The language buttons then also send the
   * values of this form, so that the new page contains the typed address.
   */
  readonly formId?: string | undefined;
  /** The query that the page's URL has after the buyer has changed the language, for example `?stay`. */
  readonly query?: string;
}

export function renderCheckoutPageHeader(
  visit: CheckoutPageVisit,
  options: PageHeaderOptions = {},
): HtmlMarkup {
  const { session, say } = visit;
  return html`<div class="page-top">
    <p class="merchant">
      ${renderMerchantLogo(session.merchant)}${session.merchant.name}
      ${session.mode === "test" ? html`<span class="badge">${say("testBadge")}</span>` : undefined}
    </p>
    ${languageChoice(visit, options)}
  </div>`;
}

/** Renders the choice of the language: a button for each language. */
function languageChoice(
  { path, language, say, session }: CheckoutPageVisit,
  { formId, query = "" }: PageHeaderOptions,
): HtmlMarkup {
  // While the session is open, the script replaces only the main part of the page when the buyer changes the
  // language. All other checkout pages are loaded again completely, because their scripts count seconds or
  // wait for a payment.
  const inPlace = session.status === "open" ? html` data-in-place` : undefined;
  const owner = formId === undefined ? undefined : html` form="${formId}"`;
  return html`<form method="post" action="${path}${query}" class="languages" ${inPlace}>
    ${
      // The language buttons are part of the open address form, and browsers press a form's first button when
      // the buyer presses Enter in a field. The first button must not be a language button, so an invisible
      // button that saves the address comes first.
      formId === undefined
        ? undefined
        : html`<button name="action" value="address" class="unseen" tabindex="-1" aria-hidden="true" ${owner}>
            ${say("addressSave")}
          </button>`
    }
    <div role="group" aria-label="${say("language")}">
      ${languages.map(
        (name) =>
          html`<button
            name="action"
            value="${languageActionPrefix}${name}"
            id="language-${name}"
            lang="${name}"
            class="third"
            ${name === language ? html` aria-current="true"` : undefined}
            ${owner}
            ${formId === undefined ? undefined : html` data-language`}
          >
            ${languageNames[name]}
          </button>`,
      )}
    </div>
  </form>`;
}
