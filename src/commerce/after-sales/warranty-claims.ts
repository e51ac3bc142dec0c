/**
 * Opens and resolves claims under a warranty (a claim is a buyer's request for a repair or replacement). A
 * warranty grants a number of repairs and replacements (its benefits). A buyer can open a claim while the
 * warranty is valid, has a benefit of the requested kind left and has no open claim. An accepted claim uses
 * one benefit. If the merchant accepts a repair or replacement without a claim, each unit uses one benefit.
 * When no benefits are left, the merchant may still accept what the statutory guarantee requires; this does
 * not change the warranty.
 */
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import { type InputFieldErrors, requireNoInputFieldErrors, getTextFieldErrors } from "#foundation/faults.ts";
import {
  type OrderAndIdOfChangedPart,
  lockAndChangeOrderOfPart,
  findOrderIdOfOrderPart,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderReturn,
  OrderWarranty,
} from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure, type Failure, type ConflictErrorDetails } from "#foundation/failure.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import {
  getRemainingWarrantyRemedyCount,
  findAcceptedWarrantyClaimsWithoutReturn,
} from "./warranty-options.ts";

export const warrantyClaimKinds = ["repair", "replacement"] as const;
export type WarrantyClaimKind = (typeof warrantyClaimKinds)[number];
export const warrantyClaimOutcomes = ["accepted", "rejected"] as const;
export type WarrantyClaimOutcome = (typeof warrantyClaimOutcomes)[number];

type Claim = OrderWarranty["claims"][number];

export const warrantyClaimTextLengthMax = 1000;
/** Maximum number of claims of one warranty, in all statuses, so that the data of a warranty stays bounded. */
const claimsPerWarrantyMax = 100;

export interface OpenWarrantyClaimInput extends ExpectedVersionInput {
  readonly warrantyId: string;
  readonly kind: WarrantyClaimKind;
  readonly description: string;
}

export async function openWarrantyClaim(
  transaction: Transaction,
  context: OrderCommandContext,
  input: OpenWarrantyClaimInput,
): Promise<OrderAndIdOfChangedPart> {
  requireNoInputFieldErrors(claimTextFaults("/description", input.description));
  const { warrantyId, kind, description } = input;
  const orderId = await findOrderIdOfOrderPart(transaction, context, { part: "warranty", id: warrantyId });
  const order = await lockAndChangeOrderOfPart(transaction, context, {
    orderId,
    work: async (found) => {
      const warranty = warrantyOf(found, warrantyId);
      requireClaimable(warranty, { kind, now: context.now });
      requireWarrantyVersion(warranty, input);
      const { merchantId, now } = context;
      await transaction
        .insertInto("warrantyClaim")
        .values({
          id: createId("warrantyClaim", now.getTime()),
          warrantyId,
          merchantId,
          kind,
          description,
          openedAt: now,
        })
        .execute();
      await recordWarrantyUsage(transaction, context, { id: warrantyId });
      return { events: [{ type: "warranty.claim_opened", id: warrantyId }] };
    },
  });
  return { order, id: warrantyId };
}

export interface ResolveWarrantyClaimInput extends ExpectedVersionInput {
  readonly claimId: string;
  readonly outcome: WarrantyClaimOutcome;
  readonly resolution: string;
}

export async function resolveWarrantyClaim(
  transaction: Transaction,
  context: OrderCommandContext,
  input: ResolveWarrantyClaimInput,
): Promise<OrderAndIdOfChangedPart> {
  requireNoInputFieldErrors(claimTextFaults("/resolution", input.resolution));
  const { warrantyId, orderId } = await ownerOfClaim(transaction, context, input.claimId);
  const order = await lockAndChangeOrderOfPart(transaction, context, {
    orderId,
    work: async (found) => {
      const warranty = warrantyOf(found, warrantyId);
      const claim = warranty.claims.find(({ id }) => id === input.claimId);
      if (claim === undefined) throw createFailure("resource_not_found");
      requireOpenClaim(warranty, claim);
      if (input.outcome === "accepted") requireBenefit(warranty, claim.kind);
      requireWarrantyVersion(warranty, input);
      await writeResolution(transaction, context, { claim, input });
      await recordWarrantyUsage(transaction, context, {
        id: warrantyId,
        used: input.outcome === "accepted" ? { [claim.kind]: 1 } : {},
      });
      return { events: [{ type: "warranty.claim_resolved", id: warrantyId }] };
    },
  });
  return { order, id: warrantyId };
}

function claimTextFaults(field: string, text: string): InputFieldErrors {
  return getTextFieldErrors(field, text, { max: warrantyClaimTextLengthMax, lines: "many" });
}

async function ownerOfClaim(
  transaction: Transaction,
  { merchantId }: Pick<OrderCommandContext, "merchantId">,
  claimId: string,
): Promise<{ readonly warrantyId: string; readonly orderId: string }> {
  const owner = await transaction
    .selectFrom("warrantyClaim as c")
    .innerJoin("warrantyRegistration as w", "w.id", "c.warrantyId")
    .select(["w.id as warrantyId", "w.orderId"])
    .where("c.id", "=", blankIdWithForbiddenCharacters(claimId))
    .where("c.merchantId", "=", merchantId)
    .executeTakeFirst();
  if (owner === undefined) throw createFailure("resource_not_found");
  return owner;
}

function warrantyOf({ warranties }: OrderAggregate, warrantyId: string): OrderWarranty {
  const found = warranties.find(({ id }) => id === warrantyId);
  if (found === undefined) throw createFailure("resource_not_found");
  return found;
}

/**
 * Throws if the buyer cannot open a claim under the warranty. Checks in this order: the warranty is void, it
 * has expired, it has the maximum number of claims, another claim is open, no benefit is left. An expired
 * warranty that is also void is therefore reported as void.
 */
function requireClaimable(
  warranty: OrderWarranty,
  { kind, now }: { readonly kind: WarrantyClaimKind; readonly now: Date },
): void {
  if (warranty.status === "void") throw refuseWarranty(warranty, { reason: "warranty_void" });
  if (new Date(warranty.endsAt) < now)
    throw refuseWarranty(warranty, { reason: "warranty_expired", data: { endsAt: warranty.endsAt } });
  const limit = { limit: claimsPerWarrantyMax };
  if (warranty.claims.length >= claimsPerWarrantyMax)
    throw refuseWarranty(warranty, { reason: "claim_limit_reached", data: limit });
  const open = warranty.claims.find(({ status }) => status === "open");
  if (open !== undefined)
    throw refuseWarranty(warranty, { reason: "claim_open", data: { claimId: open.id } });
  requireBenefit(warranty, kind);
}

function requireBenefit(warranty: OrderWarranty, kind: WarrantyClaimKind): void {
  if (getRemainingWarrantyRemedyCount(warranty, kind) < 1)
    throw refuseWarranty(warranty, { reason: "benefit_exhausted", data: { kind } });
}

function requireOpenClaim(warranty: OrderWarranty, { id, status }: Claim): void {
  if (status !== "open")
    throw refuseWarranty(warranty, { reason: "claim_resolved", data: { claimId: id, claimStatus: status } });
}

async function writeResolution(
  transaction: Transaction,
  { now }: OrderCommandContext,
  { claim, input }: { readonly claim: Claim; readonly input: ResolveWarrantyClaimInput },
): Promise<void> {
  await transaction
    .updateTable("warrantyClaim")
    .set({ status: input.outcome, resolution: input.resolution, resolvedAt: now })
    .where("id", "=", claim.id)
    .execute();
}

export interface WarrantyUsageUpdate {
  readonly id: string;
  /** Numbers of repairs and of replacements to subtract from those that the warranty still grants. */
  readonly used?: Partial<Record<WarrantyClaimKind, number>>;
}

/**
 * Raises the version of a warranty by one, and subtracts the used repairs and replacements from those that
 * the warranty still grants.
 */
export async function recordWarrantyUsage(
  transaction: Transaction,
  { now }: Pick<OrderCommandContext, "now">,
  { id, used = {} }: WarrantyUsageUpdate,
): Promise<void> {
  await transaction
    .updateTable("warrantyRegistration")
    .set((row) => ({
      version: row("version", "+", 1),
      updatedAt: now,
      repairsLeft: row("repairsLeft", "-", used.repair ?? 0),
      replacementsLeft: row("replacementsLeft", "-", used.replacement ?? 0),
    }))
    .where("id", "=", id)
    .execute();
}

/** Throws `version_conflict` if the warranty has another version than the caller expects. */
function requireWarrantyVersion(warranty: OrderWarranty, { expectedVersion }: ExpectedVersionInput): void {
  if (expectedVersion === null || expectedVersion === undefined || expectedVersion === warranty.version)
    return;
  throw createFailure("version_conflict", { conflict: warrantyConflict(warranty, {}) });
}

interface WarrantyRefusalDetails {
  readonly reason?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Creates a 409 failure that contains the warranty's status and version. */
function refuseWarranty(warranty: OrderWarranty, refused: WarrantyRefusalDetails): Failure {
  return createFailure("invalid_state", { conflict: warrantyConflict(warranty, refused) });
}

function warrantyConflict(
  { id, status, version }: OrderWarranty,
  { reason, data = {} }: WarrantyRefusalDetails,
): ConflictErrorDetails {
  return {
    resource: "warranty",
    id,
    currentStatus: status,
    currentVersion: version,
    reason: reason ?? null,
    data,
  };
}

interface AcceptedReturn {
  readonly order: OrderAggregate;
  readonly found: Pick<OrderReturn, "id" | "kind">;
  /** The returned units that the merchant has accepted on inspection, by order line. */
  readonly accepted: readonly OrderLineIdAndQuantity[];
}

/**
 * Subtracts the accepted units of a repair or replacement from the benefits that the warranty still grants.
 * Skips units of an accepted claim, because the acceptance of the claim has already subtracted them.
 */
export async function subtractUsedWarrantyRemedies(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found: { id, kind }, accepted }: AcceptedReturn,
): Promise<void> {
  if (kind !== "repair" && kind !== "replacement") return;
  for (const { lineId, quantity } of accepted) {
    const warranty = order.warranties.find(
      (candidate) => candidate.lineId === lineId && candidate.status === "active",
    );
    if (warranty === undefined || quantity === 0) continue;
    const claims = findAcceptedWarrantyClaimsWithoutReturn(warranty, kind).slice(0, quantity);
    await redeemClaims(transaction, { returnId: id, claims });
    const used = Math.min(quantity - claims.length, getRemainingWarrantyRemedyCount(warranty, kind));
    if (used > 0 || claims.length > 0)
      await recordWarrantyUsage(transaction, context, { id: warranty.id, used: { [kind]: used } });
  }
}

async function redeemClaims(
  transaction: Transaction,
  { returnId, claims }: { readonly returnId: string; readonly claims: readonly string[] },
): Promise<void> {
  if (claims.length === 0) return;
  await transaction.updateTable("warrantyClaim").set({ returnId }).where("id", "in", claims).execute();
}

/**
 * Sets the given active warranties to void. The caller passes the warranties of order lines whose units were
 * all returned.
 */
export async function voidWarranties(
  transaction: Transaction,
  { now }: OrderCommandContext,
  warranties: readonly OrderWarranty[],
): Promise<void> {
  for (const { id } of warranties)
    await transaction
      .updateTable("warrantyRegistration")
      .set((row) => ({ status: "void" as const, version: row("version", "+", 1), updatedAt: now }))
      .where("id", "=", id)
      .where("status", "=", "active")
      .execute();
}
