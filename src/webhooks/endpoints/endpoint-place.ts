/** Where an endpoint may be: an installation has so many, each with a URL of its own. Whoever needs a place holds the installation's row meanwhile. */
import { fail, type FailureConflict } from "#foundation/failure.ts";
import { isCleanText } from "#foundation/text.ts";
import type { Transaction } from "#database/transaction.ts";
import { normalizeEndpointUrl } from "#webhooks/endpoint-url.ts";
import type { EndpointTenant } from "./change-endpoint.ts";
import { refuseEndpoint, type WebhookEndpoint } from "./endpoint-aggregate.ts";
import { requireUrl } from "./endpoint-input.ts";

/** Of one installation. */
export const endpointsMax = 16;

export interface LockedInstallation {
  readonly id: string;
  readonly status: "active" | "suspended" | "uninstalled";
  readonly version: number;
  /** The merchant's. */
  readonly mode: "live" | "test";
}

/** `no key`: what only refers to the installation need not wait. */
export async function lockInstallation(
  transaction: Transaction,
  { merchantId }: EndpointTenant,
  installationId: string,
): Promise<LockedInstallation> {
  const row = await transaction
    .selectFrom("installation as i")
    .innerJoin("merchant as m", "m.id", "i.merchantId")
    .select(["i.id", "i.status", "i.version", "m.mode"])
    .where("i.id", "=", isCleanText(installationId) ? installationId : "")
    .where("i.merchantId", "=", merchantId)
    .forNoKeyUpdate("i")
    .executeTakeFirst();
  if (row === undefined) throw fail("resource_not_found", { message: "There is no such installation." });
  return row;
}

/** Receivers on this machine are for merchants in test mode. */
export function requireUrlOfMode(url: string, { isLoopbackAllowed }: EndpointTenant, { mode }: LockedInstallation): void {
  requireUrl(url, { isLoopbackAllowed: isLoopbackAllowed && mode === "test" });
}

/** `except`: the endpoint that is to get the URL has its place already. */
export async function requirePlace(
  transaction: Transaction,
  installation: LockedInstallation,
  { url, except }: { readonly url: string; readonly except?: string },
): Promise<void> {
  const places = await transaction
    .selectFrom("webhookEndpoint")
    .select(["id", "status", "version", "urlNormalized"])
    .where("installationId", "=", installation.id)
    .where("status", "<>", "deleted")
    .execute();
  const normalized = normalizeEndpointUrl(url);
  const alike = places.find(({ id, urlNormalized }) => id !== except && urlNormalized === normalized);
  if (alike !== undefined) throw refuseEndpoint("webhook_endpoint_duplicate", { ...alike, status: alike.status as WebhookEndpoint["status"] });
  if (except === undefined && places.length >= endpointsMax)
    throw fail("webhook_endpoint_limit_reached", { conflict: conflictOf(installation, { data: { limit: endpointsMax } }) });
}

export function requireInstalled(installation: LockedInstallation): void {
  if (installation.status === "uninstalled")
    throw fail("invalid_state", { conflict: conflictOf(installation, { reason: "installation_uninstalled" }) });
}

function conflictOf(
  { id, status, version }: LockedInstallation,
  { reason = null, data = {} }: { readonly reason?: string | null; readonly data?: Readonly<Record<string, unknown>> },
): FailureConflict {
  return { resource: "installation", id, currentStatus: status, currentVersion: version, reason, data };
}
