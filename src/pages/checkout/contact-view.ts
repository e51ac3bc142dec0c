/** How the buyer is reached, where that is not known and was not asked for with an address. */
import { html, type Markup } from "#pages/shared/html.ts";
import type { Visit } from "./visit.ts";

export const contactId = "email";

export interface ContactShown {
  readonly typed: string;
  readonly fault: string | undefined;
}

export function contactView({ say, path }: Visit, { typed, fault }: ContactShown): Markup {
  const invalid = fault === undefined ? undefined : html` aria-invalid="true" aria-describedby="${contactId}-fault"`;
  return html`<section class="step" aria-labelledby="contact-heading">
    <h2 id="contact-heading">${say("contactHeading")}</h2>
    <form method="post" action="${path}" class="inline" data-in-place novalidate>
      <label for="${contactId}">${say("email")}</label>
      <div class="field"><input id="${contactId}" name="email" type="email" autocomplete="email" required value="${typed}" ${invalid} /></div>
      <button name="action" value="contact">${say("addressSave")}</button>
      ${fault === undefined ? undefined : html`<p class="fault" id="${contactId}-fault">${fault}</p>`}
    </form>
  </section>`;
}
