/**
 * The script of the pages that lead the buyer on, to the payment page or after the end of a checkout session
 * to the shop: opens it after a few seconds unless the buyer chooses to stay, and prints the page.
 */

/**
 * Opens the shop or the payment page after some seconds. The opened page replaces this page in the history
 * (`location.replace`), so that the Back button does not lead from there to this page. A buyer who came to
 * this page with the browser's Back button stays here, or is led to the URL `data-come-back`.
 */
export function returnToShopAfterDelay(): void {
  const link = document.querySelector<HTMLAnchorElement>("a[data-leave]");
  const note = document.querySelector<HTMLElement>("[data-leaving]");
  if (link === null) return;
  if (isComeBack()) {
    note?.remove();
    const { comeBack } = link.dataset;
    if (comeBack !== undefined) location.replace(comeBack);
    return;
  }
  let secondsLeft = Number(link.dataset["leave"]);
  const timer = setInterval(step, 1000);
  if (secondsLeft === 0) step();
  addEventListener("pagehide", () => clearInterval(timer));
  document.addEventListener("click", (event) => {
    const { target } = event;
    if (!(target instanceof HTMLAnchorElement) || !target.matches("[data-stay]")) return;
    event.preventDefault();
    clearInterval(timer);
    // Replaces the URL in the address bar by that of the link, so that reloading the thank-you page does not
    // start the countdown to the shop again.
    history.replaceState(null, "", target.href);
    note?.remove();
    link?.focus();
  });

  function step(): void {
    secondsLeft -= 1;
    const shown = note?.querySelector("[data-seconds]");
    if (shown) shown.textContent = secondsText(Math.max(secondsLeft, 0));
    if (secondsLeft > 0 || link === null) return;
    clearInterval(timer);
    location.replace(link.href);
  }
}

const secondsText = (seconds: number): string =>
  new Intl.NumberFormat(document.documentElement.lang, {
    style: "unit",
    unit: "second",
    unitDisplay: "long",
  }).format(seconds);

const isComeBack = (): boolean =>
  performance
    .getEntriesByType("navigation")
    .some((entry) => entry instanceof PerformanceNavigationTiming && entry.type === "back_forward");

/** Shows the button that prints the page. The button is hidden without a script, because printing needs one. */
export function showPrintButton(): void {
  const button = document.querySelector<HTMLButtonElement>("[data-print]");
  if (button === null) return;
  button.hidden = false;
  button.addEventListener("click", () => print());
}
