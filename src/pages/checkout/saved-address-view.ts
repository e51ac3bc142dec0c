/**
 * Renders the saved delivery address and e-mail address. The browser in which they were entered shows them
 * completely; all others hide most characters (masked form). GraphQL returns only the masked form to the
 * checkout page.
 */
import { formatAddressLines } from "#commerce/addresses/format-address.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { formatCountryName } from "./amounts.ts";
import type { CheckoutPageMaskedAddress } from "./documents.ts";
import type { CheckoutPageVisit } from "./visit.ts";

/** Renders the saved delivery address with a link with which the buyer can change the address. */
export function renderSavedAddress(visit: CheckoutPageVisit): PreEscapedHtml {
  const { session, say, path, entered } = visit;
  const { address } = session.cart;
  const note = say(entered.address === undefined ? "addressPrivate" : "addressOnlyYou");
  return html`${
      address === null
        ? html`<p class="soft">${say("addressOptional")}</p>`
        : html`${renderAddressLines(visit, address)}
            <p class="soft">${note}</p>`
    }
    <p><a href="${path}?edit=address">${say(address === null ? "addressAdd" : "addressChange")}</a></p>`;
}

/**
 * Renders the lines of the delivery address: the complete address in the browser that entered it, and the
 * masked form in all others.
 */
export function renderAddressLines(
  { entered, language, session }: CheckoutPageVisit,
  masked: CheckoutPageMaskedAddress,
): PreEscapedHtml {
  const whole = entered.address;
  const lines =
    whole === undefined
      ? [...maskedLines(masked), formatCountryName(masked.countryCode, language)]
      : [
          ...formatAddressLines(whole, { isLocal: isMainLanguageOfCountry(whole.countryCode, language) }),
          formatCountryName(whole.countryCode, language),
          whole.phone ?? "",
        ];
  return html`<address class="lines-of-address" lang="${session.locale}">
    ${lines
      .filter((line) => line !== "")
      .map((line, index) => html`${index === 0 ? undefined : html`<br />`}${line}`)}
  </address>`;
}

function maskedLines(address: CheckoutPageMaskedAddress): string[] {
  const { recipientInitials, postalCodePrefix, city, regionCode } = address;
  const place = [postalCodePrefix === null ? "" : `${postalCodePrefix}•••`, city ?? ""]
    .filter((part) => part !== "")
    .join(" ");
  return [recipientInitials ?? "", place, regionCode?.split("-").at(-1) ?? ""];
}

/** Returns true if the language is the main language of the country, for example German for Austria. */
export const isMainLanguageOfCountry = (country: string, language: string): boolean =>
  new Intl.Locale(`und-${country}`).maximize().language === language;

/**
 * Returns the buyer's e-mail address, complete in the browser that entered it and masked in all others; null
 * if there is none.
 */
export const getDisplayedBuyerEmail = ({ entered, session }: CheckoutPageVisit): string | null =>
  entered.email ?? session.cart.buyer.emailHint;

/** Renders the saved e-mail address with a link with which the buyer can change the address. */
export function renderSavedContactEmail(visit: CheckoutPageVisit): PreEscapedHtml {
  const { say, path } = visit;
  return html`<section class="step" aria-labelledby="contact-heading">
    <h2 id="contact-heading">${say("contactHeading")}</h2>
    <p>${getDisplayedBuyerEmail(visit) ?? ""}</p>
    <p><a href="${path}?edit=contact">${say("contactChange")}</a></p>
  </section>`;
}
