/**
 * Sends a form and replaces the page's main part with the answer, without leaving the page. The focus and
 * what was typed or ticked meanwhile are kept.
 */

let underWay: AbortController | undefined;

/** `stale`: a newer one is on its way, whose answer counts. `failed`: the form is to be sent as forms are. */
type Outcome = "replaced" | "stale" | "failed";

export async function replaceMain(form: HTMLFormElement, button: HTMLButtonElement): Promise<Outcome> {
  underWay?.abort();
  const own = new AbortController();
  underWay = own;
  hold(true);
  const typed = typedNow(form);
  try {
    const next = await ask(form, button, own.signal);
    if (underWay !== own) return "stale";
    const [main, shown] = [next?.querySelector("main"), document.querySelector("main")];
    if (next === undefined || !main || shown === null) return "failed";
    put(main, { shown, typed });
    document.title = next.title;
    return "replaced";
  } catch {
    return underWay === own ? "failed" : "stale";
  } finally {
    if (underWay === own) hold(false);
  }
}

async function ask(
  form: HTMLFormElement,
  button: HTMLButtonElement,
  signal: AbortSignal,
): Promise<Document | undefined> {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form, button))
    if (typeof value === "string") body.append(name, value);
  // Its buttons are named `action`, which hides the property of that name.
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

/** What would be paid is being changed: until it is there, nothing can be. */
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
 * What somebody types or ticks while an answer is on its way, or in a form that was not sent, is not lost to
 * the answer.
 */
type Control = HTMLInputElement | HTMLSelectElement;

/** The state of each control of the form that is sent, as it is sent. */
type Typed = ReadonlyMap<string, string>;

const controlsOf = (place: ParentNode): Control[] => [
  ...place.querySelectorAll<Control>("input[id], select[id]"),
];
const stateOf = (control: Control): string => (isTicked(control) ? String(control.checked) : control.value);
const isTicked = (control: Control): control is HTMLInputElement =>
  control instanceof HTMLInputElement && control.type === "radio";

const typedNow = (form: HTMLFormElement): Typed =>
  new Map(controlsOf(form).map((control) => [control.id, stateOf(control)]));

function keepTyping(from: HTMLElement, to: HTMLElement, sent: Typed): void {
  for (const control of controlsOf(from)) {
    if (stateOf(control) === (sent.get(control.id) ?? shownOf(control))) continue;
    const next = to.querySelector<Control>(`#${CSS.escape(control.id)}`);
    if (next === null) continue;
    if (isTicked(next)) next.checked = isTicked(control) && control.checked;
    else next.value = control.value;
  }
}

/** As the page came. */
function shownOf(control: Control): string {
  if (isTicked(control)) return String(control.defaultChecked);
  if (control instanceof HTMLInputElement) return control.defaultValue;
  return (
    [...control.options].find(({ defaultSelected }) => defaultSelected)?.value ??
    control.options[0]?.value ??
    ""
  );
}
