/** What somebody types or ticks while an answer is on its way, or in a form that was not sent, is not lost to the answer. */
type Control = HTMLInputElement | HTMLSelectElement;

/** The state of each control of the form that is sent, as it is sent. */
export type Typed = ReadonlyMap<string, string>;

const controlsOf = (place: ParentNode): Control[] => [...place.querySelectorAll<Control>("input[id], select[id]")];
const stateOf = (control: Control): string => (isTicked(control) ? String(control.checked) : control.value);
const isTicked = (control: Control): control is HTMLInputElement => control instanceof HTMLInputElement && control.type === "radio";

export const typedNow = (form: HTMLFormElement): Typed => new Map(controlsOf(form).map((control) => [control.id, stateOf(control)]));

export function keepTyping(from: HTMLElement, to: HTMLElement, sent: Typed): void {
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
  return [...control.options].find(({ defaultSelected }) => defaultSelected)?.value ?? control.options[0]?.value ?? "";
}
