/** Inserts spaces between groups of digits while the buyer types into card fields, and fills in test cards. */

export function registerCardFieldFormatting(): void {
  document.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    if (target.id === "card-number") rewrite(target, groupCardNumber);
    if (target.id === "card-expiry") rewrite(target, slashExpiry);
  });
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>("[data-card-number]") : null;
    if (button !== null) fillIn(button);
  });
}

/**
 * Formats the text of a card field if the caret (cursor) is at the end of the text. Elsewhere in the text,
 * the buyer is correcting a digit, and formatting would move the caret away.
 */
function rewrite(field: HTMLInputElement, format: (text: string) => string): void {
  if (field.selectionStart !== field.value.length) return;
  const next = format(field.value);
  if (next !== field.value) field.value = next;
}

/**
 * Inserts spaces between the digits as on a printed card: groups of 4, 6 and 5 digits for American Express,
 * otherwise groups of four.
 */
function groupCardNumber(text: string): string {
  const digits = text.replaceAll(/\D/g, "").slice(0, 19);
  const groups = /^3[47]/.test(digits)
    ? [digits.slice(0, 4), digits.slice(4, 10), digits.slice(10, 15)]
    : (digits.match(/\d{1,4}/g) ?? []);
  return groups.filter((group) => group !== "").join(" ");
}

/**
 * Inserts a slash between the month and the year of a card's expiry date. A first digit from 2 to 9 can only
 * be a whole month, so it gets a leading zero.
 */
function slashExpiry(text: string): string {
  const digits = text.replaceAll(/\D/g, "").slice(0, 6);
  const padded = /^[2-9]/.test(digits) ? `0${digits}` : digits;
  return padded.length > 2 ? `${padded.slice(0, 2)}/${padded.slice(2)}` : padded;
}

function set(id: string, value: string): void {
  const field = document.querySelector<HTMLInputElement>(`#${id}`);
  if (field !== null) field.value = value;
}

/** Fills the card form with a test card. A name that the buyer has typed stays unchanged. */
function fillIn({ dataset }: HTMLElement): void {
  set("card-number", dataset["cardNumber"] ?? "");
  set("card-expiry", `12/${String(new Date().getFullYear() + 5).slice(-2)}`);
  set("card-cvc", dataset["cvc"] ?? "");
  const name = document.querySelector<HTMLInputElement>("#card-name");
  if (name !== null && name.value === "") name.value = "Test Card";
  document.querySelector<HTMLElement>("#pay:enabled, #card-number")?.focus();
}
