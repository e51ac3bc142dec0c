/** Whose data a call may see. Every list and lookup takes its merchant from here; a foreign id is simply not found. */
import { fail, failAt } from "#foundation/failure.ts";
import type { GraphContext } from "./context.ts";

/** The merchant a token is bound to; null: all of them. */
export function ownerOf({ viewer }: GraphContext): string | null {
  if (viewer.kind === "anonymous") throw fail("role_not_allowed");
  return viewer.merchantId;
}

/** Whose things a list shows: those of the token's own merchant, or of the one that a token of the platform names; null: everybody's. */
export function listedOwner(context: GraphContext, merchantId: string | null | undefined): string | null {
  return ownerOf(context) === null && (merchantId === null || merchantId === undefined) ? null : tenantOf(context, merchantId);
}

/** The merchant that a mutation acts on: the token's own, or the one that a token of the platform names. */
export function tenantOf(context: GraphContext, merchantId: string | null | undefined): string {
  const owner = ownerOf(context);
  if (owner === null && (merchantId === null || merchantId === undefined)) {
    throw failAt("missing_field", {
      in: "body",
      field: "/merchantId",
      code: "required",
      message: "merchantId is required with a token of the platform.",
    });
  }
  if (owner !== null && merchantId !== null && merchantId !== undefined && merchantId !== owner) throw fail("merchant_not_found");
  return owner ?? merchantId ?? "";
}
