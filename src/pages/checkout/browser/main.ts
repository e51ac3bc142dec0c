/**
 * The script of the checkout page. It sends forms without loading a new page, checks addresses while they are
 * typed, and waits for the payment result. After the purchase, it opens the shop. Without the script, every
 * form loads a new page.
 */
import "./checkout.css";
import "./checkout-form.css";
import "./card.css";
import "./branding.css";
import { registerAddressFieldChecks } from "./address-check.ts";
import { leaveCheckoutPageAfterDelay, showPrintButton } from "./outcome.ts";
import { registerCardFieldFormatting } from "./card-form.ts";
import { registerPaymentFormHandler } from "./pay.ts";
import { submitFormAndReplaceMainElement } from "./replace-main.ts";

/**
 * The first pause, in milliseconds, between two requests for the payment's status. Each later pause is
 * longer.
 */
const pollMs = 1_000;
const pollMsMax = 10_000;

function waitForAnswer(): void {
  const place = document.querySelector<HTMLElement>("[data-status]");
  const { status: url, version, longAfter } = place?.dataset ?? {};
  if (url === undefined) return;
  // A page that has waited `longAfter` milliseconds for the payment result is reloaded. The new page has a
  // button with which the buyer can stop waiting.
  if (longAfter !== undefined) setTimeout(() => location.reload(), Number(longAfter));
  let waitMs = pollMs;
  const look = async (): Promise<void> => {
    if (await isNew(url, version)) return location.reload();
    waitMs = Math.min(waitMs * 1.2, pollMsMax);
    setTimeout(() => void look(), waitMs);
  };
  setTimeout(() => void look(), waitMs);
}

/**
 * Returns true if the page must be reloaded: the checkout session has changed, or the bank waits for the
 * buyer's confirmation. Returns false if the request for the status fails; the script then asks again later.
 */
async function isNew(url: string, version: string | undefined): Promise<boolean> {
  try {
    const answer = await fetch(url, { credentials: "same-origin" });
    if (!answer.ok) return false;
    const now = (await answer.json()) as { readonly version: number; readonly challenge: boolean };
    return now.challenge || String(now.version) !== version;
  } catch {
    return false;
  }
}

/**
 * Sends the form as soon as the buyer selects a country or delivery option. The button for sending the choice
 * is only needed without a script.
 */
function followChoices(): void {
  document.documentElement.classList.add("scripted");
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement)) return;
    const button =
      target.name === "countryCode"
        ? "[data-country]"
        : target.name === "optionId"
          ? "[data-delivery]"
          : undefined;
    if (button !== undefined) replaceBy(target.form?.querySelector<HTMLButtonElement>(button) ?? null);
  });
}

/** Sends small forms, for example the form for the promotion code, without leaving the checkout page. */
function followForms(): void {
  document.addEventListener("submit", (event) => {
    const { target, submitter } = event;
    if (
      !(target instanceof HTMLFormElement) ||
      !(submitter instanceof HTMLButtonElement) ||
      !(target.matches("[data-in-place]") || submitter.matches("[data-language]"))
    )
      return;
    event.preventDefault();
    replaceBy(submitter);
  });
}

function replaceBy(button: HTMLButtonElement | null): void {
  const form = button?.form ?? null;
  if (button !== null && form !== null) void replace(form, button);
}

async function replace(form: HTMLFormElement, button: HTMLButtonElement): Promise<void> {
  if ((await submitFormAndReplaceMainElement(form, button)) !== "failed") return;
  form.removeAttribute("data-in-place");
  button.removeAttribute("data-language");
  form.requestSubmit(button);
}

/** Opens the collapsed order summary of the checkout page if the window is wide. */
function unfoldOrder(): void {
  const order = document.querySelector<HTMLDetailsElement>("#order-fold");
  if (order !== null && matchMedia("(min-width: 56rem)").matches) order.open = true;
}

// All event listeners are attached to the document, so that they still work after parts of the page have been
// replaced.
followChoices();
followForms();
registerPaymentFormHandler();
registerCardFieldFormatting();
registerAddressFieldChecks();
unfoldOrder();
waitForAnswer();
leaveCheckoutPageAfterDelay();
showPrintButton();
