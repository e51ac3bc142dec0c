/** Whether an installation can do its work with the credential it shows, and what somebody has to do about it. Pure: time comes with the facts. */
import { type CheckCode, judges, type Severity, severities, type Verdict } from "./readiness-checks.ts";
import type { InstallationFacts, ReadinessFacts } from "./readiness-facts.ts";
import { requiredAndGranted } from "./readiness-scopes.ts";

export interface Check extends Omit<Verdict, "dueAt"> {
  readonly code: CheckCode;
  readonly severity: Severity;
}

export interface Readiness {
  readonly status: "ready" | "degraded" | "action_required" | "blocked";
  readonly evaluatedAt: Date;
  readonly installationId: string;
  readonly requiredScopes: readonly string[];
  readonly grantedScopes: readonly string[];
  readonly missingScopes: readonly string[];
  readonly checks: readonly Check[];
  readonly nextActionAt: Date | null;
}

const codes = Object.keys(judges) as CheckCode[];

export function readinessOf(facts: ReadinessFacts): Readiness {
  const { now, installation } = facts;
  const judged = codes.map((code) => ({ code, verdict: judges[code](facts) }));
  const checks = judged.map(({ code, verdict: { status, message, remedy, since } }) => ({
    code,
    severity: severities[code],
    status,
    message,
    remedy,
    since,
  }));
  const due = judged.flatMap(({ verdict: { dueAt } }) => (dueAt === null || dueAt <= now ? [] : [dueAt.getTime()]));
  return {
    status: statusOf(installation, checks),
    evaluatedAt: now,
    installationId: installation.installationId,
    ...requiredAndGranted(facts),
    checks,
    nextActionAt: due.length === 0 ? null : new Date(Math.min(...due)),
  };
}

function statusOf({ status, merchantStatus }: InstallationFacts, checks: readonly Check[]): Readiness["status"] {
  if (status !== "active" || merchantStatus !== "active") return "blocked";
  if (checks.some((check) => check.severity === "blocking" && check.status === "fail")) return "action_required";
  return checks.some((check) => check.status === "warn" || check.status === "fail") ? "degraded" : "ready";
}
