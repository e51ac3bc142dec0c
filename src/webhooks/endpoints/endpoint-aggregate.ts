/** An endpoint as the contract shows it, and how what is not possible with it is told. A deleted endpoint is not there. */
import { fail, type Failure, type FailureCode, type FailureConflict } from "#foundation/failure.ts";

export type EndpointStatus = "enabled" | "disabled" | "auto_disabled";
export type PayloadMode = "snapshot" | "thin";
export type HealthState = "unknown" | "healthy" | "degraded" | "failing";

export interface WebhookEndpoint {
  readonly id: string;
  readonly merchantId: string;
  readonly installationId: string;
  readonly url: string;
  readonly description: string | null;
  readonly status: EndpointStatus;
  readonly disabledReason: "manual" | "gone" | "failing" | null;
  readonly disabledAt: Date | null;
  readonly eventTypes: readonly string[];
  readonly payloadMode: PayloadMode;
  readonly maxPerSecond: number | null;
  /** Those that sign now, the newest first: two while one is replaced. */
  readonly secrets: readonly SecretHint[];
  readonly health: Health;
  readonly metadata: Readonly<Record<string, string>>;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SecretHint {
  readonly version: number;
  /** `…` and the last four characters. */
  readonly hint: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Null: it is the current one. */
  readonly expiresAt: string | null;
}

export interface Health {
  readonly state: HealthState;
  readonly consecutiveFailures: number;
  /** Of the attempts of the last 24 hours, how many arrived, 0 to 1; null: there were none. */
  readonly successRate24h: number | null;
  readonly lastSuccessAt: Date | null;
  readonly lastFailureAt: Date | null;
  readonly lastFailure: { readonly code: string; readonly httpStatus: number | null } | null;
}

/** What the dispatcher has written down of an endpoint. */
export interface HealthFacts {
  readonly status: EndpointStatus;
  readonly failingSince: Date | null;
  /** Set: it has been failing for a day. */
  readonly degradedAt: Date | null;
  /** Set: the breaker is open. */
  readonly probeAt: Date | null;
  readonly lastSuccessAt: Date | null;
  readonly lastFailureAt: Date | null;
}

/** An endpoint that was switched on again is unknown until something was sent to it. */
export function healthStateOf({ status, degradedAt, probeAt, lastSuccessAt, lastFailureAt, failingSince }: HealthFacts): HealthState {
  if (status === "auto_disabled" || probeAt !== null) return "failing";
  if (degradedAt !== null) return "degraded";
  if (lastSuccessAt === null) return "unknown";
  return failingSince !== null || lastFailureAt === null || lastFailureAt <= lastSuccessAt ? "healthy" : "unknown";
}

/** What its merchant is told of when it changes: the fields that are different, as they were. */
export function previousOf(before: WebhookEndpoint, after: WebhookEndpoint): Record<string, unknown> {
  const { merchantId: _merchantId, installationId: _installationId, health: _health, ...was } = before;
  return Object.fromEntries(Object.entries(was).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(after[name as keyof typeof was])));
}

export interface Refused {
  readonly reason?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

type Conflicting = Pick<WebhookEndpoint, "id" | "status" | "version">;

export function refuseEndpoint(code: FailureCode, endpoint: Conflicting, { message, ...refused }: Refused = {}): Failure {
  return fail(code, { conflict: conflictOf(endpoint, refused), ...(message === undefined ? {} : { message }) });
}

function conflictOf(
  { id, status, version }: Conflicting,
  { reason = null, data = {} }: { reason?: string | null; data?: Refused["data"] },
): FailureConflict {
  return { resource: "webhook_endpoint", id, currentStatus: status, currentVersion: version, reason, data };
}

/** State before version: this comes last. */
export function requireVersion(endpoint: Conflicting, expectedVersion: number | null | undefined): void {
  if (expectedVersion === null || expectedVersion === undefined || expectedVersion === endpoint.version) return;
  throw refuseEndpoint("version_conflict", endpoint);
}
