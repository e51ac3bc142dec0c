/** Whose a cart is: the frontend's own name for the buyer, and an e-mail, which is kept encrypted. */
import { isEmail } from "#commerce/addresses/address-text.ts";
import { erasePersonalData, openPersonalData, sealPersonalData } from "#commerce/addresses/personal-data.ts";
import { faultAt, type Faults, requireNoFaults, textFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import type { CartAggregate } from "./cart-aggregate.ts";
import { draftOf } from "./cart-draft.ts";
import { emailLifeMs, type Expected, requireChangeable } from "./cart-status.ts";
import { applyPlan, type CartCommandContext, lockCart } from "./change-cart.ts";
import { referenceFaults } from "./create-cart.ts";

/** The whole of it: what stands here replaces what was. */
export interface CartBuyerSetInput extends Expected {
  /** Null: nobody known. */
  readonly buyerReference?: string | null | undefined;
  readonly email?: string | null | undefined;
}

const emailMax = 254;

export async function setBuyer(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartBuyerSetInput & { readonly cartId: string },
): Promise<CartAggregate> {
  requireNoFaults(buyerFaults(input, tenant));
  const cart = await lockCart(transaction, tenant, input.cartId);
  requireChangeable(cart, input, tenant.now);
  const buyerEmailId = await replaceEmail(transaction, tenant, { cart, email: input.email ?? null });
  return applyPlan(transaction, tenant, {
    cart,
    plan: () => ({
      event: "cart.updated",
      draft: { ...draftOf(cart), buyerReference: input.buyerReference ?? null, buyerEmailId },
    }),
  });
}

function buyerFaults({ buyerReference, email }: CartBuyerSetInput, tenant: CartCommandContext): Faults {
  return [...referenceFaults(buyerReference, tenant), ...emailFaults("/email", email)];
}

export function emailFaults(field: string, email: string | null | undefined): Faults {
  const isMalformed = typeof email === "string" && !isEmail(email);
  return [
    ...textFaults(field, email, { max: emailMax }),
    ...(isMalformed ? [faultAt(field, "pattern_mismatch", "It must be an e-mail address.")] : []),
  ];
}

/** The same one stays, row and all. Another one takes its place, and the old one is erased at once: nothing points at it any more. */
export async function replaceEmail(
  transaction: Transaction,
  { keyring, merchantId, now }: CartCommandContext,
  { cart, email }: { readonly cart: CartAggregate; readonly email: string | null },
): Promise<string | null> {
  if (cart.buyerEmail !== null) {
    const row = await transaction.selectFrom("personalData").selectAll().where("id", "=", cart.buyerEmail.id).executeTakeFirstOrThrow();
    const present = openPersonalData(keyring, row);
    if (present?.kind === "buyer_email" && present.email === email) return row.id;
    await erasePersonalData(transaction, [row.id], now);
  }
  if (email === null) return null;
  const id = createId("personalData", now.getTime());
  const eraseAfter = new Date(now.getTime() + emailLifeMs);
  await transaction
    .insertInto("personalData")
    .values(sealPersonalData(keyring, { id, merchantId, cartId: cart.id, kind: "buyer_email", email, now, eraseAfter }))
    .execute();
  return id;
}
