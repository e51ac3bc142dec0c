/**
 * Sends a form and replaces the main part of the page by that of the answer, without leaving the page. Keeps
 * the focus, and copies values into the new main part that the buyer has typed or selected during the
 * request.
 */

let underWay: AbortController | undefined;

/**
 * The result of sending a form with the script. `replaced`: the page shows the answer. `stale`: a newer form
 * was sent meanwhile, so the answer is ignored. `failed`: the script could not send the form or got no page
 * in return, so the browser must send the form itself.
 */
type ReplaceResult = "replaced" | "stale" | "failed";

export async function submitFormAndReplaceMainElement(
  form: HTMLFormElement,
  button: HTMLButtonElement,
): Promise<ReplaceResult> {
  underWay?.abort();
  const own = new AbortController();
  underWay = own;
  hold(true);
  const typed = readEnteredFormValues(form);
  try {
    const next = await ask(form, button, own.signal);
    if (underWay !== own) return "stale";
    return next !== undefined && replaceMainElement(next, typed) ? "replaced" : "failed";
  } catch {
    return underWay === own ? "failed" : "stale";
  } finally {
    if (underWay === own) hold(false);
  }
}

/**
 * Replaces the main part of the current page by the main part of a newly loaded page. Returns false if either
 * page has no main part.
 */
export function replaceMainElement(next: Document, typed: Typed): boolean {
  const [main, shown] = [next.querySelector("main"), document.querySelector("main")];
  if (main === null || shown === null) return false;
  put(main, { shown, typed });
  document.title = next.title;
  document.documentElement.lang = next.documentElement.lang;
  return true;
}

async function ask(
  form: HTMLFormElement,
  button: HTMLButtonElement,
  signal: AbortSignal,
): Promise<Document | undefined> {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form, button))
    if (typeof value === "string" && (button.id === "pay" || !name.startsWith("card")))
      body.append(name, value);
  // The form's URL is read with `getAttribute`. The property `form.action` does not return the URL, because
  // it returns the form's buttons, which have the name `action`.
  const answer = await fetch(form.getAttribute("action") ?? "", {
    method: "POST",
    body,
    credentials: "same-origin",
    signal,
  });
  const type = answer.headers.get("content-type") ?? "";
  if (!type.startsWith("text/html") || answer.status >= 500) return undefined;
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** Disables the pay button while another form, which may change the amount, is being sent. */
function hold(isHeld: boolean): void {
  document.querySelector("main")?.toggleAttribute("data-held", isHeld);
  const pay = document.querySelector<HTMLButtonElement>("#pay:not([aria-describedby])");
  if (pay !== null) pay.disabled = isHeld;
}

function put(
  main: HTMLElement,
  { shown, typed }: { readonly shown: HTMLElement; readonly typed: Typed },
): void {
  const focused = document.activeElement;
  const focusedId = focused?.id ?? "";
  const caret =
    focused instanceof HTMLInputElement && focused.type === "text" ? focused.selectionStart : null;
  const isUnfolded = shown.querySelector<HTMLDetailsElement>("#order-fold")?.open === true;
  keepTyping(shown, main, typed);
  shown.replaceWith(main);
  const order = main.querySelector<HTMLDetailsElement>("#order-fold");
  if (order !== null && isUnfolded) order.open = true;
  const faults = document.querySelector<HTMLElement>("#faults");
  const next = faults ?? document.querySelector<HTMLElement>(`#${CSS.escape(focusedId)}`);
  next?.focus();
  if (caret !== null && next instanceof HTMLInputElement) next.setSelectionRange(caret, caret);
}

/**
 * A field of a form on the checkout page. If the buyer changes its value while a request is running, the
 * value is copied to the new page.
 */
type Control = HTMLInputElement | HTMLSelectElement;

/** The values of a form's fields when the form was sent, by the id of the field's HTML element. */
type Typed = ReadonlyMap<string, string>;

const controlsOf = (place: ParentNode): Control[] => [
  ...place.querySelectorAll<Control>("input[id], select[id]"),
];
const stateOf = (control: Control): string => (isTicked(control) ? String(control.checked) : control.value);
const isTicked = (control: Control): control is HTMLInputElement =>
  control instanceof HTMLInputElement && control.type === "radio";

export const readEnteredFormValues = (form: HTMLFormElement): Typed =>
  new Map(controlsOf(form).map((control) => [control.id, stateOf(control)]));

function keepTyping(from: HTMLElement, to: HTMLElement, sent: Typed): void {
  for (const control of controlsOf(from)) {
    // Typed card data is always copied into the new page, because the answer of the service never contains
    // card numbers.
    const isKept = control.matches("[data-kept]") && control.value !== "";
    if (!isKept && stateOf(control) === (sent.get(control.id) ?? shownOf(control))) continue;
    const next = to.querySelector<Control>(`#${CSS.escape(control.id)}`);
    if (next === null) continue;
    if (isTicked(next)) next.checked = isTicked(control) && control.checked;
    else next.value = control.value;
  }
}

/**
 * Returns a form field's initial value, which it had when the page was loaded and before the buyer changed
 * it.
 */
function shownOf(control: Control): string {
  if (isTicked(control)) return String(control.defaultChecked);
  if (control instanceof HTMLInputElement) return control.defaultValue;
  return (
    [...control.options].find(({ defaultSelected }) => defaultSelected)?.value ??
    control.options[0]?.value ??
    ""
  );
}
