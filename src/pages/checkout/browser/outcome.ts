/**
 * The script of two kinds of pages: pages that open the payment page, and pages after the end of a checkout
 * session that open the shop. Opens the next page after a few seconds unless the buyer chooses to stay. Also
 * prints the page.
 */

/**
 * Opens the shop or the payment page after some seconds. The opened page replaces this page in the browser's
 * history, so its Back button does not lead here. A buyer who still comes back here stays, or is sent to the
 * URL in `data-come-back`.
 */
export function leaveCheckoutPageAfterDelay(): void {
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
    // The URL of the link "stay" replaces the current URL, so that reloading the thank-you page does not
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
