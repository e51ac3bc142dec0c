/** The result of a readiness check, and functions that build it. */

export interface InstallationReadinessCheckResult {
  readonly status: "pass" | "warn" | "fail" | "skipped";
  readonly message: string;
  /** A text that says what to do so that the readiness check passes; null if nothing needs to be done. */
  readonly remedy: string | null;
  /**
   * The time since which the readiness check has not passed; null if this time is unknown or the check
   * passes.
   */
  readonly since: Date | null;
  /**
   * The time by which the app or the merchant must act, for example before a key expires; null if there is no
   * deadline.
   */
  readonly dueAt: Date | null;
}

export const createPassedReadinessCheckResult = (
  message: string,
  dueAt: Date | null = null,
): InstallationReadinessCheckResult => ({
  status: "pass",
  message,
  remedy: null,
  since: null,
  dueAt,
});
export const createSkippedReadinessCheckResult = (message: string): InstallationReadinessCheckResult => ({
  status: "skipped",
  message,
  remedy: null,
  since: null,
  dueAt: null,
});

interface ProblemDetails {
  readonly remedy: string;
  readonly since?: Date | null;
  readonly dueAt?: Date | null;
}

const problem =
  (status: "warn" | "fail") =>
  (
    message: string,
    { remedy, since = null, dueAt = null }: ProblemDetails,
  ): InstallationReadinessCheckResult => ({
    status,
    message,
    remedy,
    since,
    dueAt,
  });
export const createWarningCheckResult = problem("warn");
export const createFailedCheckResult = problem("fail");
