/** Waits for what the page waits for: the payment's answer, or the moment to go on to the shop. */
const pollMs = 1_000;
const pollMsMax = 10_000;

export function waitForAnswer(): void {
  const place = document.querySelector<HTMLElement>("[data-status]");
  const { status: url, version, longAfter } = place?.dataset ?? {};
  if (url === undefined) return;
  // By then the page has something else to offer.
  if (longAfter !== undefined) setTimeout(() => location.reload(), Number(longAfter));
  let waitMs = pollMs;
  const look = async (): Promise<void> => {
    if (await isNew(url, version)) return location.reload();
    waitMs = Math.min(waitMs * 1.2, pollMsMax);
    setTimeout(() => void look(), waitMs);
  };
  setTimeout(() => void look(), waitMs);
}

/** What cannot be told now is asked again. */
async function isNew(url: string, version: string | undefined): Promise<boolean> {
  try {
    const answer = await fetch(url, { credentials: "same-origin" });
    return answer.ok && String(((await answer.json()) as { readonly version: number }).version) !== version;
  } catch {
    return false;
  }
}

/** Once: who comes back by the Back button wants to see the page, and its place in the history is not left behind. */
export function leaveInAMoment(): void {
  const link = document.querySelector<HTMLAnchorElement>("a[data-leave]");
  if (link === null || isComeBack()) return;
  const timer = setTimeout(() => location.replace(link.href), Number(link.dataset["leave"]) * 1000);
  addEventListener("pagehide", () => clearTimeout(timer));
}

const isComeBack = (): boolean =>
  performance.getEntriesByType("navigation").some((entry) => (entry as PerformanceNavigationTiming).type === "back_forward");
