/** Renders the top of every checkout page: the merchant's name and logo, and the choice of language. */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { renderMerchantLogo } from "./branding-routes.ts";
import { languageActionPrefix } from "./page-language.ts";
import { languageNames, languages } from "./texts.ts";
import type { CheckoutPageVisit } from "./visit.ts";

interface PageHeaderOptions {
  /**
   * The id of the page's address form; left out if the page has none. The language buttons also send this
   * form's values, so that the typed address is not lost.
   */
  readonly formId?: string | undefined;
  /** The query of the page's URL after a change of the language, for example `?stay`. */
  readonly query?: string;
}

export function renderCheckoutPageHeader(
  visit: CheckoutPageVisit,
  options: PageHeaderOptions = {},
): PreEscapedHtml {
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
): PreEscapedHtml {
  // A change of the language replaces only the main part of the page while the session is open. All other
  // checkout pages are loaded again completely, because their scripts count seconds or wait for a payment.
  const inPlace = session.status === "open" ? html` data-in-place` : undefined;
  const owner = formId === undefined ? undefined : html` form="${formId}"`;
  return html`<form method="post" action="${path}${query}" class="languages" ${inPlace}>
    ${
      // The language buttons are part of the open address form, whose first button is pressed by the Enter
      // key. An invisible button that saves the address comes first, so that Enter does not change the
      // language.
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
