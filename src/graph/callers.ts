/** The callers of the graph: their kinds, whose data they may see, and what is hidden from analysts. A foreign id is never found. */
import { credentialIdOf, type Role, type Viewer } from "#access/viewer.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { fail, failAt } from "#foundation/failure.ts";
import type { GraphContext } from "./context.ts";

/**
 * The callers that a field names. Anonymous callers and integrators come over REST, the roles are those of internal
 * tokens; `system` renders events, and `buyer` is on the page of one checkout session.
 */
export type Caller = "anonymous" | "api_key" | "oauth" | "system" | "buyer" | Role;

type WithViewer = Pick<GraphContext, "viewer">;

export function callerOf(viewer: Viewer): Caller {
  return viewer.kind === "internal" ? viewer.role : viewer.kind;
}

/** The scopes of `@pothos/plugin-scope-auth`: a field names the kinds of callers that it is open to. */
export const authScopes = ({ viewer }: WithViewer): { readonly callers: (callers: readonly Caller[]) => boolean } => ({
  callers: (callers) => callers.includes(callerOf(viewer)),
});

/** Callers that run a merchant: they may read and change everything of it. */
export const staff: readonly Caller[] = ["admin", "operator"];
/** Callers that read everything of a merchant; analysts do so without personal data. */
export const readers: readonly Caller[] = ["admin", "operator", "analyst"];
/** The platform's operators alone. */
export const platform: readonly Caller[] = ["operator"];
/** Apps that a merchant has installed, with either kind of credential. */
export const integrators: readonly Caller[] = ["api_key", "oauth"];
/** Apps for their own installation, and staff. */
export const integratorsAndStaff: readonly Caller[] = [...integrators, ...staff];
/** Internal frontends: a storefront, for the buyer that X-Buyer-Reference names, and staff. */
export const frontends: readonly Caller[] = ["storefront", ...staff];
/** Frontends, and the page of the checkout session itself. */
export const pagesAndFrontends: readonly Caller[] = ["buyer", ...frontends];
/** Everybody who may change a cart. */
export const everyClient: readonly Caller[] = [...integrators, ...frontends];
export const everybody: readonly Caller[] = ["anonymous", ...integrators, "storefront", "admin", "analyst", "operator"];

/** The merchant that a credential is bound to; null if it is one of the platform. */
export function ownerOf({ viewer }: GraphContext): string | null {
  if (viewer.kind === "anonymous") throw fail("role_not_allowed");
  return viewer.merchantId;
}

/** The merchant whose rows a list shows: the token's own, or the one that a token of the platform names; null: all. */
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

/** The page of a session may only see and change this session. */
export const isOwnSession = (sessionId: string, { viewer }: WithViewer): boolean => viewer.kind !== "buyer" || viewer.sessionId === sessionId;

/** The id of the caller's internal token or of the staff account at the console; null: another credential. */
export const tokenIdOf = ({ viewer }: WithViewer): string | null => (viewer.kind === "internal" ? credentialIdOf(viewer) : null);

/** The actor of an order's timeline. */
export function orderActorOf({ viewer }: WithViewer): OrderActor {
  const caller = callerOf(viewer);
  if (caller === "storefront" || caller === "buyer") return "buyer";
  return caller === "system" ? "system" : "merchant";
}

/** Hides from analysts what identifies a buyer, and free text, which may name people. */
export function unlessAnalyst<Value>(value: Value, { viewer }: WithViewer): Value | null {
  return callerOf(viewer) === "analyst" ? null : value;
}

/** A frontend may name the buyer in a URL, so analysts see it without its query and fragment. */
export function addressToShow(address: string, { viewer }: WithViewer): string {
  return callerOf(viewer) === "analyst" ? address.replace(/[?#].*$/s, "") : address;
}
