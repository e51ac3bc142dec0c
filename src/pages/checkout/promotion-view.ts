/** What takes something off: a code, given or taken away beside the amounts that it changes. */
import { html, type Markup } from "#pages/shared/html.ts";
import type { Visit } from "./visit.ts";

export interface PromotionShown {
  readonly typed: string;
  readonly fault: string | undefined;
}

export function promotionView({ session, say, path }: Visit, { typed, fault }: PromotionShown): Markup {
  const { promotion, state } = session.cart.promotion;
  if (promotion !== null) {
    const { code, title } = promotion;
    const text = state === "suspended" ? say("promotionSuspended", { code }) : say("promotionApplied", { code, title });
    return html`<form method="post" action="${path}" class="promotion" data-in-place>
      <h3>${say("promotion")}</h3>
      <p${state === "suspended" ? html` class="warning"` : undefined}>${text}</p>
      <button name="action" value="promotion-remove" class="second small">${say("promotionRemove", { code })}</button>
    </form>`;
  }
  const invalid = fault === undefined ? undefined : html` aria-invalid="true" aria-describedby="code-fault"`;
  return html`<form method="post" action="${path}" class="promotion inline" data-in-place novalidate>
    <label for="code">${say("promotion")} <span class="soft">${say("optional")}</span></label>
    <div class="field">
      <input id="code" name="code" type="text" autocomplete="off" autocapitalize="characters" spellcheck="false" value="${typed}" ${invalid} />
    </div>
    <button name="action" value="promotion" class="second">${say("promotionApply")}</button>
    ${fault === undefined ? undefined : html`<p class="fault" id="code-fault">${fault}</p>`}
  </form>`;
}
