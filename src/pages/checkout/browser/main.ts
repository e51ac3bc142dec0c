/**
 * The checkout page's script. The page works without it, with whole pages and forms. The script replaces
 * parts of the page, checks addresses while they are typed, waits for the payment's answer, and leaves for
 * the shop.
 */
import "./checkout.css";
import { checkAddressWhileTyping } from "./address-check.ts";
import { submitAndReplaceMain } from "./replace-main.ts";

/** The first pause, in milliseconds, between two requests for the payment's status. */
const pollMs = 1_000;
const pollMsMax = 10_000;

function waitForAnswer(): void {
  const place = document.querySelector<HTMLElement>("[data-status]");
  const { status: url, version, longAfter } = place?.dataset ?? {};
  if (url === undefined) return;
  // After `longAfter` milliseconds the page is reloaded. It then has a button to stop waiting for the
  // payment.
  if (longAfter !== undefined) setTimeout(() => location.reload(), Number(longAfter));
  let waitMs = pollMs;
  const look = async (): Promise<void> => {
    if (await isNew(url, version)) return location.reload();
    waitMs = Math.min(waitMs * 1.2, pollMsMax);
    setTimeout(() => void look(), waitMs);
  };
  setTimeout(() => void look(), waitMs);
}

/** Returns false if the status cannot be read; the script asks again later. */
async function isNew(url: string, version: string | undefined): Promise<boolean> {
  try {
    const answer = await fetch(url, { credentials: "same-origin" });
    return answer.ok && String(((await answer.json()) as { readonly version: number }).version) !== version;
  } catch {
    return false;
  }
}

/**
 * Opens the shop after a delay, but not if the buyer returned with the Back button. `location.replace` keeps
 * this page out of the history.
 */
function leaveInAMoment(): void {
  const link = document.querySelector<HTMLAnchorElement>("a[data-leave]");
  if (link === null || isComeBack()) return;
  const timer = setTimeout(() => location.replace(link.href), Number(link.dataset["leave"]) * 1000);
  addEventListener("pagehide", () => clearTimeout(timer));
}

const isComeBack = (): boolean =>
  performance
    .getEntriesByType("navigation")
    .some((entry) => (entry as PerformanceNavigationTiming).type === "back_forward");

/**
 * Sends a choice of country or delivery at once. The buttons for these choices are only needed without a
 * script.
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

/** Sends small forms, for example the promotion code, without leaving the page. */
function followForms(): void {
  document.addEventListener("submit", (event) => {
    const { target, submitter } = event;
    if (
      !(target instanceof HTMLFormElement) ||
      !target.matches("[data-in-place]") ||
      !(submitter instanceof HTMLButtonElement)
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
  if ((await submitAndReplaceMain(form, button)) !== "failed") return;
  form.removeAttribute("data-in-place");
  form.requestSubmit(button);
}

/** Ignores a second press of the pay button while the first request is running. */
function payOnce(): void {
  const sent = new WeakSet<EventTarget>();
  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (!(form instanceof HTMLFormElement) || !form.matches("[data-pay]") || submitter?.id !== "pay") return;
    if (sent.has(form)) event.preventDefault();
    sent.add(form);
    form.setAttribute("aria-busy", "true");
  });
  // The browser may show a cached copy of the page after the Back button; the pay form must work again
  // then.
  window.addEventListener("pageshow", () => {
    const form = document.querySelector("[data-pay]");
    if (form === null) return;
    sent.delete(form);
    form.removeAttribute("aria-busy");
  });
}

/** Opens the order summary on wide screens. */
function unfoldOrder(): void {
  const order = document.querySelector<HTMLDetailsElement>("#order-fold");
  if (order !== null && matchMedia("(min-width: 56rem)").matches) order.open = true;
}

// All listeners are on the document, so they also work for replaced parts of the page.
followChoices();
followForms();
payOnce();
checkAddressWhileTyping();
unfoldOrder();
waitForAnswer();
leaveInAMoment();
