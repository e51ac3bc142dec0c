/**
 * The GraphQL mutation that creates buyer sessions. With a buyer session, a buyer's browser calls the GraphQL
 * API directly, without the frontend's server in between.
 */
import { z } from "zod";
import {
  buyerSessionMinutes,
  type BuyerSessionWithToken,
  createBuyerSessionToken,
  verifyBuyerSessionToken,
} from "#access/buyer-sessions.ts";
import { findInternalTokenVerificationDataById } from "#access/keys/internal-tokens.ts";
import { type BuyerSession, getBuyerSessionOfViewer } from "#access/viewer.ts";
import { createFailure, Failure, createFailureWithDetail } from "#foundation/failure.ts";
import { isBuyerReference } from "#foundation/text.ts";
import { builder } from "#graph/builder.ts";
import { getCallerKindOfViewer, getCallerMerchantId, type GraphqlContext } from "#graph/context.ts";
import { accessMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";

const BuyerSessionCreateInput = builder.inputType("BuyerSessionCreateInput", {
  description: "The buyer session to create.",
  fields: (t) => ({
    buyerReference: t.string({
      description:
        "The frontend's reference of the signed-in buyer, 1 to 128 printable ASCII characters without " +
        "spaces and @; by default the buyer in the header X-Buyer-Reference. If there is neither, the " +
        "session is for a guest. Only a token of the role `STOREFRONT` may name a buyer.",
    }),
    sessionToken: t.string({
      description:
        "The token of an earlier session that has not expired. The new session has the same id, so a guest " +
        "keeps the cart and the orders of the earlier session, also after signing in. A token of the role " +
        "`BROWSER` can continue only sessions of guests.",
      validate: z.string().max(2000),
    }),
    expiresInMinutes: t.int({
      description:
        `How long the session token is valid, in minutes, ${buyerSessionMinutes.min} to ` +
        `${buyerSessionMinutes.max}; by default ${buyerSessionMinutes.guest} (30 days) for a guest and ` +
        `${buyerSessionMinutes.signedIn} (one day) for a buyer with a reference.`,
      validate: z.int32().min(buyerSessionMinutes.min).max(buyerSessionMinutes.max),
    }),
  }),
});

const BuyerSessionType = builder.objectRef<BuyerSessionWithToken>("BuyerSession").implement({
  description:
    "A session of one buyer. The buyer's browser sends the session's token as `Authorization: Bearer` and " +
    "can then do what a storefront can do for this buyer only.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The id of the session, `bse_…`." }),
    token: t.exposeString("token", {
      description: "The token of the session, `cbs_…`, which is a secret of this buyer's browser.",
    }),
    buyerReference: t.exposeString("buyerReference", {
      nullable: true,
      description: "The frontend's reference of the buyer; null if the session is for a guest.",
    }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", description: "When the session token expires." }),
  }),
});

type SessionInput = typeof BuyerSessionCreateInput.$inferInput;

defineMutation({
  ...accessMutationKind,
  name: "buyerSessionCreate",
  description:
    "Creates a buyer session for a browser. The session can read and change only carts, checkout sessions " +
    "and orders of its own buyer. If the internal token that creates the session is revoked, the session " +
    "ends too.",
  failures: ["api_key_invalid", "api_key_expired"],
  callers: ["storefront", "browser"],
  input: BuyerSessionCreateInput,
  type: BuyerSessionType,
  check: ({ viewer }) => {
    if (getBuyerSessionOfViewer(viewer) !== undefined)
      throw createFailure("role_not_allowed", {
        message:
          "A buyer session cannot create sessions. Send the internal token, and the token of the buyer " +
          'session as "sessionToken".',
      });
  },
  // Stores nothing in the database, because a buyer session is only a signed token.
  run: (_transaction, _context, input) => Promise.resolve(input),
  answer: createSession,
});

async function createSession(context: GraphqlContext, input: SessionInput): Promise<BuyerSessionWithToken> {
  const { viewer, services, clock } = context;
  if (viewer.kind !== "internal" || !("tokenId" in viewer)) throw createFailure("role_not_allowed");
  const buyerReference = readBuyerReference(context, input.buyerReference ?? null);
  const continued =
    typeof input.sessionToken === "string" ? await readContinuedSession(context, input.sessionToken) : null;
  const standard = buyerReference === null ? buyerSessionMinutes.guest : buyerSessionMinutes.signedIn;
  return createBuyerSessionToken(
    { keyring: services.keyring, internalTokenId: viewer.tokenId, now: clock.now() },
    { buyerReference, continued, minutes: input.expiresInMinutes ?? standard },
  );
}

/** Returns the buyer reference of the buyer for whom the new session is created; null if the buyer is a guest. */
function readBuyerReference(context: GraphqlContext, requested: string | null): string | null {
  const named = requested ?? context.buyerReference;
  if (named === null) return null;
  if (getCallerKindOfViewer(context.viewer) === "browser")
    throw createFailure("role_not_allowed", {
      message:
        "A token of the role browser can create sessions of guests only. The frontend's server names the " +
        "signed-in buyer with a token of the role storefront.",
    });
  if (!isBuyerReference(named))
    throw refuseInput(
      "/buyerReference",
      "pattern_mismatch",
      '"buyerReference" must have 1 to 128 printable ASCII characters, without spaces and @.',
    );
  if (context.buyerReference !== null && context.buyerReference !== named)
    throw refuseInput(
      "/buyerReference",
      "not_allowed",
      '"buyerReference" must be equal to the X-Buyer-Reference header.',
    );
  return named;
}

/**
 * Verifies the token of the existing buyer session that a new session continues, and returns the existing
 * session. Refuses tokens of other merchants.
 */
async function readContinuedSession(context: GraphqlContext, sessionToken: string): Promise<BuyerSession> {
  const { services, clock, db } = context;
  const message =
    '"sessionToken" must be the token of a buyer session of this merchant that has not expired.';
  try {
    const { internalTokenId, ...session } = await verifyBuyerSessionToken(sessionToken, {
      keyring: services.keyring,
      now: clock.now(),
    });
    const token = await findInternalTokenVerificationDataById(db, internalTokenId);
    const isOfMerchant = token?.revokedAt === null && token.merchantId === getCallerMerchantId(context);
    const isForbidden =
      getCallerKindOfViewer(context.viewer) === "browser" && session.buyerReference !== null;
    if (!isOfMerchant || isForbidden) throw refuseInput("/sessionToken", "invalid_value", message);
    return session;
  } catch (error) {
    if (error instanceof Failure && error.status === 401)
      throw refuseInput("/sessionToken", "invalid_value", message);
    throw error;
  }
}

const refuseInput = (field: string, code: string, message: string): Failure =>
  createFailureWithDetail("invalid_field", { in: "body", field, code, message });
