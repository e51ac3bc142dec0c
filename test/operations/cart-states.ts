/** Creates a cart in each possible state. States that checkout and orders produce are written by SQL. */
import { sql } from "kysely";
import { expireCarts } from "#commerce/carts/cart-transitions.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { sessionRow } from "#test/support/session-row.ts";
import type { World } from "#test/support/world.ts";
import { changeCart, makeCart, makeForeignCart, readCart } from "./cart-calls.ts";

export interface CartInState {
  readonly cartId: string;
  /** The version that a read returns. */
  readonly version: number;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** Creates a cart with one line and a code that applies. The world must have the code `matrix`. */
async function makeCoded(world: World): Promise<CartInState> {
  const { id: cartId } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
  await changeCart(world, "cartPromotionApply", { cartId, input: { code: "matrix" } });
  return { cartId, version: 2 };
}

export async function lockCart(
  world: World,
  { cartId, version }: CartInState,
  status: "open" | "processing" = "open",
): Promise<CartInState> {
  const now = world.clock.now();
  await runInTransaction(world.database.db, async (transaction) => {
    await transaction
      .insertInto("hostedCheckoutSession")
      .values({
        id: createId("checkoutSession", now.getTime()),
        merchantId: world.demo.merchants.first.id,
        cartId,
        status,
        createdAt: now,
        updatedAt: now,
        expiresAt: new Date(now.getTime() + hourMs),
        submittedAt: status === "processing" ? now : null,
        ...sessionRow({ country: "DE", currency: "EUR", locale: "de" }),
      })
      .execute();
    await sql`update cart set status = 'locked', version = version + 1 where id = ${cartId}`.execute(
      transaction,
    );
  });
  return { cartId, version: version + 1 };
}

export const cartStates = {
  active: makeCoded,
  "active without a code": async (world) => ({
    cartId: (await makeCart(world, { lines: { "KIT-KVERN": 1 } })).id,
    version: 1,
  }),
  "active without lines": async (world) => {
    const { cartId } = await makeCoded(world);
    const { lines } = (await readCart(world, cartId)).data;
    await changeCart(world, "cartLinesRemove", { cartId, input: { lineIds: [lines[0].id] } });
    return { cartId, version: 3 };
  },
  locked: async (world) => lockCart(world, await makeCoded(world)),
  "locked while it is paid": async (world) => {
    const locked = await lockCart(world, await makeCoded(world), "processing");
    world.clock.advance(2 * hourMs);
    return locked;
  },
  "locked by a session that ran out": async (world) => {
    const locked = await lockCart(world, await makeCoded(world));
    world.clock.advance(hourMs);
    return locked;
  },
  completed: async (world) => {
    const { cartId } = await lockCart(world, await makeCoded(world), "processing");
    const orderId = createId("order", world.clock.now().getTime());
    await runInTransaction(world.database.db, async (transaction) => {
      await sql`update hosted_checkout_session set status = 'completed', completed_at = ${world.clock.now()}
        where cart_id = ${cartId}`.execute(transaction);
      await sql`update cart set status = 'completed', version = version + 1, ended_at = ${world.clock.now()},
        order_id = ${orderId} where id = ${cartId}`.execute(transaction);
    });
    return { cartId, version: 4 };
  },
  revoked: async (world) => {
    const { cartId } = await makeCoded(world);
    await changeCart(world, "cartRevoke", { cartId, input: { expectedVersion: 2 } });
    return { cartId, version: 3 };
  },
  "expired by the clock": async (world) => {
    const made = await makeCoded(world);
    world.clock.advance(30 * dayMs);
    return made;
  },
  "expired, and written": async (world) => {
    const { cartId } = await makeCoded(world);
    world.clock.advance(30 * dayMs);
    await sweepCarts(world);
    return { cartId, version: 3 };
  },
  "locked by a session that ran out, then expired": async (world) => {
    const locked = await lockCart(world, await makeCoded(world));
    world.clock.advance(30 * dayMs);
    return locked;
  },
  merged: async (world) => {
    const { cartId } = await makeCoded(world);
    const target = await makeCart(world);
    await changeCart(world, "cartMerge", { cartId: target.id, input: { sourceCartId: cartId } });
    return { cartId, version: 3 };
  },
  "revoked 90 days ago": async (world) => {
    const { cartId } = await makeCoded(world);
    await changeCart(world, "cartRevoke", { cartId, input: { expectedVersion: 2 } });
    world.clock.advance(90 * dayMs);
    return { cartId, version: 3 };
  },
  "expired 90 days ago": async (world) => {
    const made = await makeCoded(world);
    world.clock.advance(120 * dayMs);
    return made;
  },
  "another merchant's": async (world) => ({ cartId: await makeForeignCart(world), version: 1 }),
  "not there": () => Promise.resolve({ cartId: "cart_00000000000000000000000000", version: 1 }),
} as const satisfies Record<string, (world: World) => Promise<CartInState>>;

export type CartState = keyof typeof cartStates;

/** Runs the periodic sweep that expires carts. */
export function sweepCarts({ app, clock }: World): Promise<number> {
  return expireCarts({ ...app.services, now: clock.now() });
}
