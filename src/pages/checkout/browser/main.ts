/** The checkout page's script. Without it the page does the same with whole pages and forms: here they only come without a wait, and faults while typing. */
import "./checkout.css";
import { checkWhileTyping } from "./address-check.ts";
import { replaceMain } from "./replace-main.ts";
import { leaveInAMoment, waitForAnswer } from "./waiting.ts";

// All listen on the document: what is put in the page's place is attended to as it is.
followChoices();
followForms();
payOnce();
checkWhileTyping();
unfoldOrder();
waitForAnswer();
leaveInAMoment();

/** What is chosen counts at once: the buttons that say so are for who has no script. */
function followChoices(): void {
  document.documentElement.classList.add("scripted");
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement)) return;
    const button = target.name === "countryCode" ? "[data-country]" : target.name === "optionId" ? "[data-delivery]" : undefined;
    if (button !== undefined) replaceBy(target.form?.querySelector<HTMLButtonElement>(button) ?? null);
  });
}

/** Small forms that change something beside what is being filled in. */
function followForms(): void {
  document.addEventListener("submit", (event) => {
    const { target, submitter } = event;
    if (!(target instanceof HTMLFormElement) || !target.matches("[data-in-place]") || !(submitter instanceof HTMLButtonElement)) return;
    event.preventDefault();
    replaceBy(submitter);
  });
}

function replaceBy(button: HTMLButtonElement | null): void {
  const form = button?.form ?? null;
  if (button !== null && form !== null) void replace(form, button);
}

async function replace(form: HTMLFormElement, button: HTMLButtonElement): Promise<void> {
  if ((await replaceMain(form, button)) !== "failed") return;
  form.removeAttribute("data-in-place");
  form.requestSubmit(button);
}

/** A second press while the first one is on its way says nothing new. */
function payOnce(): void {
  const sent = new WeakSet<EventTarget>();
  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (!(form instanceof HTMLFormElement) || !form.matches("[data-pay]") || submitter?.id !== "pay") return;
    if (sent.has(form)) event.preventDefault();
    sent.add(form);
    form.setAttribute("aria-busy", "true");
  });
  // Kept by the browser as it was left, and shown again by its Back button.
  window.addEventListener("pageshow", () => {
    const form = document.querySelector("[data-pay]");
    if (form === null) return;
    sent.delete(form);
    form.removeAttribute("aria-busy");
  });
}

/** Where there is room for it. */
function unfoldOrder(): void {
  const order = document.querySelector<HTMLDetailsElement>("#order-fold");
  if (order !== null && matchMedia("(min-width: 56rem)").matches) order.open = true;
}
