/** Creates the sentence that describes the chart of webhook delivery attempts. */

interface AttemptCounts {
  readonly successes: number;
  readonly failures: number;
}

/**
 * Returns a sentence about the number of attempts, for example `1 delivery attempt succeeded, 7 failed in the
 * last 24 hours.`
 */
export function summarizeDeliveryAttempts({ successes, failures }: AttemptCounts, period: string): string {
  const [succeeded, failed] = [successes.toLocaleString("en"), failures.toLocaleString("en")];
  return `${succeeded} delivery ${successes === 1 ? "attempt" : "attempts"} succeeded, ${failed} failed in ${period}.`;
}
