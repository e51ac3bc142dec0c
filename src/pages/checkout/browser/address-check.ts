/**
 * Shows the error of an address field as soon as the buyer leaves the field. The page's script sends the
 * address to the service, which checks it by the same rules as when the buyer sends the form.
 */
interface FieldFault {
  readonly field: string;
  readonly message: string;
}

type Control = HTMLInputElement | HTMLSelectElement;

/**
 * The names of the fields to check, by form. The script checks fields that the buyer has filled in and left,
 * and fields with an error when the page was loaded. All other fields may be unfinished.
 */
const leftOf = new WeakMap<HTMLFormElement, Set<string>>();

export function registerAddressFieldChecks(): void {
  let latestCheck = 0;
  document.addEventListener("focusout", ({ target }) => {
    if (!isControl(target) || target.type === "hidden" || target.name === "countryCode") return;
    const { form } = target;
    if (form === null || form.dataset["check"] === undefined) return;
    const left =
      leftOf.get(form) ??
      new Set([...form.querySelectorAll<Control>("[aria-invalid]")].map(({ name }) => name));
    leftOf.set(form, left);
    // A field without text gets no error message before the form is sent, because the buyer may fill it in
    // later.
    if (target.value.trim() !== "") left.add(target.name);
    if (left.size === 0) return;
    latestCheck += 1;
    const thisCheck = latestCheck;
    const showNewFaults = async (): Promise<void> => {
      const faults = await askFaults(form);
      if (faults !== undefined && thisCheck === latestCheck) showFaults(form, { left, faults });
    };
    void showNewFaults();
  });
}

const isControl = (target: EventTarget | null): target is Control =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement;

async function askFaults(form: HTMLFormElement): Promise<readonly FieldFault[] | undefined> {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") body.append(name, value);
  try {
    const answer = await fetch(form.dataset["check"] ?? "", {
      method: "POST",
      body,
      credentials: "same-origin",
    });
    return answer.ok
      ? ((await answer.json()) as { readonly faults: readonly FieldFault[] }).faults
      : undefined;
  } catch {
    // After a failed request for the address check, the page shows no errors. The service checks the address
    // again when the form is sent.
    return undefined;
  }
}

function showFaults(
  form: HTMLFormElement,
  { left, faults }: { readonly left: ReadonlySet<string>; readonly faults: readonly FieldFault[] },
): void {
  for (const control of form.querySelectorAll<Control>("input, select")) {
    const place = document.querySelector<HTMLElement>(`#${CSS.escape(`${control.id}-fault`)}`);
    if (place === null) continue;
    const fault = left.has(control.name) ? faults.find(({ field }) => field === control.name) : undefined;
    place.hidden = fault === undefined;
    place.textContent = fault?.message ?? "";
    if (fault === undefined) control.removeAttribute("aria-invalid");
    else control.setAttribute("aria-invalid", "true");
  }
}
