/** The result of a readiness check, and functions that build it. */

export interface CheckResult {
  readonly status: "pass" | "warn" | "fail" | "skipped";
  readonly message: string;
  /** What the reader should do; null if nothing needs to be done. */
  readonly remedy: string | null;
  /** Since when the check has not passed; null if that is unknown. */
  readonly since: Date | null;
  /** By when someone must act; null if nothing is due. */
  readonly dueAt: Date | null;
}

export const createPassedResult = (message: string, dueAt: Date | null = null): CheckResult => ({
  status: "pass",
  message,
  remedy: null,
  since: null,
  dueAt,
});
export const createSkippedResult = (message: string): CheckResult => ({
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
  (message: string, { remedy, since = null, dueAt = null }: ProblemDetails): CheckResult => ({
    status,
    message,
    remedy,
    since,
    dueAt,
  });
export const createWarningResult = problem("warn");
export const createFailedResult = problem("fail");
