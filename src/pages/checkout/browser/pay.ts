/**
 * Sends the payment form without leaving the page, so that typed card data is not lost if the connection
 * breaks. All attempts send the same idempotency key, so the buyer pays at most once.
 */
import { replaceMainElement, readEnteredFormValues } from "./replace-main.ts";

/** Maximum time in milliseconds to wait for an answer; after this time, the connection counts as lost. */
const answerMsMax = 30_000;
/**
 * The first pause, in milliseconds, between two requests that ask whether the payment has arrived. The page
 * sends these requests after it has lost the connection.
 */
const retryMs = 2_000;
const retryMsMax = 15_000;

export function registerPaymentFormHandler(): void {
  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (!(form instanceof HTMLFormElement) || !form.matches("[data-pay]")) return;
    if (!(submitter instanceof HTMLButtonElement) || submitter.id !== "pay") return;
    if (form.hasAttribute("data-plain")) return;
    event.preventDefault();
    if (form.getAttribute("aria-busy") === "true") return;
    void (isOffline(form) ? payIfNotArrived(form, submitter) : pay(form, submitter));
  });
  // Enables the payment form again when the buyer returns with the Back button. The browser may show a cached
  // copy of the page in which the form is still disabled.
  window.addEventListener("pageshow", () =>
    document.querySelector("[data-pay]")?.removeAttribute("aria-busy"),
  );
}

const noticeOf = (form: HTMLFormElement): HTMLElement | null => form.querySelector("[data-offline]");
const isOffline = (form: HTMLFormElement): boolean => (noticeOf(form)?.textContent ?? "") !== "";

async function pay(form: HTMLFormElement, button: HTMLButtonElement): Promise<void> {
  form.setAttribute("aria-busy", "true");
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form, button))
    if (typeof value === "string") body.append(name, value);
  const typed = readEnteredFormValues(form);
  try {
    const answer = await ask(actionOf(form), { method: "POST", body, redirect: "manual" });
    if (answer.type === "opaqueredirect") return location.replace(actionOf(form));
    const isPage =
      answer.status < 500 && answer.headers.get("content-type")?.startsWith("text/html") === true;
    const next = isPage ? new DOMParser().parseFromString(await answer.text(), "text/html") : undefined;
    if (next !== undefined && replaceMainElement(next, typed)) return;
    // The answer cannot replace the main part of the page. The browser therefore sends the form again without
    // the script, and shows the answer as a new page.
    form.toggleAttribute("data-plain", true);
    form.requestSubmit(button);
  } catch {
    waitForConnection(form, button);
  }
}

// The form's URL is read with `getAttribute`. The property `form.action` does not return the URL, because it
// returns the form's buttons, which have the name `action`.
const actionOf = (form: HTMLFormElement): string => form.getAttribute("action") ?? "";

const ask = (url: string, options: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...options, credentials: "same-origin", signal: AbortSignal.timeout(answerMsMax) });

/**
 * Shows the message that the connection is lost. Sends the payment again when the browser is online again, or
 * after a pause.
 */
function waitForConnection(form: HTMLFormElement, button: HTMLButtonElement): void {
  form.removeAttribute("aria-busy");
  const notice = noticeOf(form);
  if (notice === null) return;
  const text = notice.dataset["offline"] ?? "";
  if (notice.textContent !== text) notice.textContent = text;
  const waitMs = Math.min(Number(form.dataset["waited"] ?? retryMs) * 1.5, retryMsMax);
  form.dataset["waited"] = String(waitMs);
  const again = (): void => {
    clearTimeout(timer);
    removeEventListener("online", again);
    if (form.isConnected && form.getAttribute("aria-busy") !== "true") void payIfNotArrived(form, button);
  };
  const timer = setTimeout(again, waitMs);
  addEventListener("online", again);
}

/**
 * Asks the service whether the payment arrived before the connection was lost. Loads the page with the result
 * if it arrived. Otherwise sends the payment again with the same idempotency key.
 */
async function payIfNotArrived(form: HTMLFormElement, button: HTMLButtonElement): Promise<void> {
  form.setAttribute("aria-busy", "true");
  try {
    const answer = await ask(form.dataset["pay"] ?? "");
    if (!answer.ok) return waitForConnection(form, button);
    const { version }: { version: unknown } = await answer.json();
    const seen = form.querySelector<HTMLInputElement>("input[name=version]")?.value;
    if (String(version) !== seen) return location.replace(actionOf(form));
    noticeOf(form)?.replaceChildren();
    await pay(form, button);
  } catch {
    waitForConnection(form, button);
  }
}
