/**
 * Carts, orders and results that are kept in memory: after every change of data that an answer shows, by this
 * or another process, and after every step of the clock, the answers equal those of a service that keeps
 * nothing.
 */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ServiceApp } from "#app/app.ts";
import { findAndEraseBuyerData } from "#app/erase-buyers.ts";
import { runInTransaction } from "#database/transaction.ts";
import { berlin, callCart, changeCart, deliveryOf, makeCart } from "#test/operations/cart-calls.ts";
import { insertOrder } from "#test/support/orders.ts";
import "#test/support/properties.ts";
import {
  createOtherService,
  openReuseComparison,
  type ReuseComparison,
} from "#test/support/reuse-comparison.ts";
import { publicUrl } from "#test/support/copies.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { createWorld, type World } from "#test/support/world.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

interface Pair {
  readonly cartId: string;
  readonly orderId: string;
  readonly buyer: string;
}

/**
 * One change by SQL for each table of which an answer shows data; most change no version. `$1` is the cart,
 * `$2` the order.
 */
const sqlChanges: Readonly<Record<string, string>> = {
  cart: `update cart set version = version + 1, locale = case locale when 'en' then 'de' else 'en' end
    where id = $1`,
  cartSilently: "update cart set updated_at = updated_at + interval '1 second' where id = $1",
  cartAddressLife: `update cart set address_expires_at = address_expires_at + interval '5 minutes'
    where id = $1`,
  merchant: "update merchant set name = name || '.'",
  stockOnHand: `update stock_level set on_hand = (on_hand + 7) % 23 + reserved
    where variant_id in (select variant_id from cart_line where cart_id = $1)`,
  stockLimit: `update stock_level set backorder_limit = (backorder_limit + 3) % 7
    where variant_id in (select variant_id from cart_line where cart_id = $1)`,
  variantEnds: `update variant set discontinued = not discontinued
    where id in (select variant_id from cart_line where cart_id = $1)`,
  preorder: `update variant set available_from = (select updated_at from cart where id = $1) + interval '1 hour'
    where id in (select variant_id from cart_line where cart_id = $1)`,
  productStatus: `update product set status = case status when 'published' then 'draft' else 'published' end
    where id in (select product_id from cart_line where cart_id = $1)`,
  promotion: "update promotion set ends_at = coalesce(ends_at, now()) + interval '1 day'",
  masked: `update personal_data set masked = masked || '{"city": "Elsewhere"}' where kind = 'address'`,
  order: `update sales_order set version = version + 1,
    locale = case locale when 'en' then 'de' else 'en' end where id = $2`,
  orderSilently: "update sales_order set updated_at = updated_at + interval '1 second' where id = $2",
  orderLine: "update order_line set reduced_minor = reduced_minor + 1 where order_id = $2",
  payment: "update payment set failure_code = coalesce(failure_code, '') || 'x' where order_id = $2",
  policy: "update policy_snapshot set summary = summary || '.' where order_id = $2",
  timeline: `insert into order_timeline (order_id, at, type, actor)
    values ($2, now(), 'order_on_hold', 'merchant')`,
};

const engine = "postgres";

describe("kept results", () => {
  const world = useWorld(engine);
  let other: ServiceApp;
  let comparison: ReuseComparison;
  /** The world, but requests go to the other service, which keeps results of its own. */
  let otherWorld: World;

  beforeAll(async () => {
    other = await createOtherService(world(), engine);
    comparison = await openReuseComparison(world(), engine);
    otherWorld = {
      ...world(),
      send: async ({ method, url, headers = {}, body }) => {
        const { statusCode: status, body: text } = await other.server.inject({
          method: method as "GET",
          url,
          headers: { "content-type": "application/json", ...headers },
          ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
        });
        return { status, headers: {}, text, body: JSON.parse(text) };
      },
    };
  });
  afterAll(async () => {
    await comparison.close();
    await other.close();
  });
  beforeEach(() => void Object.assign(comparison.uses, { hits: 0, misses: 0 }));

  const makeFullCart = async (buyer: string): Promise<string> => {
    const { id: cartId } = await makeCart(world(), {
      token: "admin",
      lines: { "KIT-KVERN": 1, "KIT-EMALJE-WHITE": 2 },
      input: { buyerReference: buyer },
    });
    await changeCart(world(), "cartAddressSet", { token: "admin", cartId, input: { address: berlin } });
    return cartId;
  };
  const makePair = async (): Promise<Pair> => {
    const buyer = `buyer-${randomUUID()}`;
    const { id: orderId } = await insertOrder(world(), { buyer, email: "kept@example.org" });
    return { cartId: await makeFullCart(buyer), orderId, buyer };
  };
  /** Undoes the changes of catalog and clock that would let no further cart or order be created. */
  const restore = async (at: Date): Promise<void> => {
    world().clock.at = at;
    const ofKitchen = sql`(select id from variant where sku like 'KIT-%')`;
    await sql`update product set status = 'published' where id in (select product_id from variant
      where id in ${ofKitchen})`.execute(world().database.db);
    await sql`update variant set discontinued = false, available_from = null where id in ${ofKitchen}`.execute(
      world().database.db,
    );
    await sql`update stock_level set on_hand = reserved + 20 where variant_id in ${ofKitchen}`.execute(
      world().database.db,
    );
  };
  /** Runs a change without the triggers that demand a new version of the cart or order. */
  const runSql = async (text: string, { cartId, orderId }: Pair): Promise<void> => {
    const parts = text
      .split(/(\$[12])/)
      .map((part) => (part === "$1" ? sql`${cartId}` : part === "$2" ? sql`${orderId}` : sql.raw(part)));
    await runInTransaction(world().database.db, async (transaction) => {
      await sql`set local session_replication_role = replica`.execute(transaction);
      await sql`${sql.join(parts, sql``)}`.execute(transaction);
    });
  };

  type Change = (pair: Pair) => Promise<unknown>;
  const change =
    (field: Parameters<typeof changeCart>[1], input: object): Change =>
    ({ cartId }) =>
      changeCart(otherWorld, field, { token: "admin", cartId, input: { ...input } });
  const changes: Readonly<Record<string, Change>> = {
    ...Object.fromEntries(
      Object.entries(sqlChanges).map(([name, text]) => [name, (pair: Pair) => runSql(text, pair)]),
    ),
    address: change("cartAddressSet", { address: { ...berlin, city: "Potsdam" } }),
    code: change("cartPromotionApply", { code: "KIT10" }),
    withoutCode: change("cartPromotionRemove", {}),
    guest: change("cartBuyerSet", { buyerReference: null }),
    market: change("cartMarketChange", { market: "AT" }),
    delivery: async ({ cartId }) =>
      changeCart(otherWorld, "cartDeliveryOptionSelect", {
        token: "admin",
        cartId,
        input: { optionId: await deliveryOf(world(), "standard") },
      }),
    revoke: change("cartRevoke", { reason: "CUSTOMER_REQUEST" }),
    minute: async () => world().clock.advance(minuteMs),
    addressLife: async () => world().clock.advance(30 * minuteMs),
    cartLife: async () => world().clock.advance(30 * dayMs),
    readableTime: async () => world().clock.advance(90 * dayMs),
    back: async () => world().clock.advance(-31 * minuteMs),
    nothing: async () => undefined,
  };

  it("are used again while nothing has changed, also by other callers with the same rights", async () => {
    const pair = await makePair();
    for (let turn = 0; turn < 5; turn += 1) await comparison.expectSameAnswers(pair);
    Object.assign(comparison.uses, { hits: 0, misses: 0 });
    await comparison.expectSameAnswers(pair);
    // Two API keys, admin, analyst and the buyer read each object from memory. The key of another merchant and
    // the other buyer never get a kept result, and the key without the scope is refused before.
    expect(comparison.uses).toEqual({ hits: 10, misses: 4 });
  });

  it("need a statement for each read, which returns no cart while the cart is unchanged", async () => {
    const cartId = await makeFullCart("buyer-1");
    const read = () => callCart(world(), "getPublicCart", { cartId });
    const first = await read();
    let again = first;
    const sent = await statementsOf(world(), async () => void (again = await read()));
    const ofCarts = sent.filter((text) => text.includes("cart_line"));
    expect(ofCarts.map((text) => text.includes("is_known"))).toEqual([true]);
    expect([again.text, again.headers.etag]).toEqual([first.text, first.headers.etag]);
    expect(comparison.uses).toEqual({ hits: 1, misses: 1 });
    const { text } = await world().get("/metrics");
    expect(text).toMatch(
      /commerce_response_cache_requests_total\{operation="getPublicCart",result="hit"\} [1-9]/,
    );
  });

  it("show no erased personal data", async () => {
    const pair = await makePair();
    for (let turn = 0; turn < 5; turn += 1) await comparison.expectSameAnswers(pair);
    const { db, render, keyring } = world().app.services;
    const { merchants } = world().demo;
    const target = { by: "buyerReference", merchantId: merchants.first.id, value: pair.buyer } as const;
    await findAndEraseBuyerData(
      { db, keyring, render, publicUrl, now: world().clock.now() },
      { target, isForced: true },
    );
    const answers = await comparison.expectSameAnswers(pair);
    expect(answers.join("\n")).not.toMatch(/Berlin|k•••@/);
  });

  it("never differ from answers without memory after random changes", { timeout: 240_000 }, async () => {
    const names = Object.keys(changes);
    const begunAt = world().clock.now();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...names), { minLength: 12, maxLength: 16 }),
        async (chosen) => {
          await restore(begunAt);
          const pair = await makePair();
          await comparison.expectSameAnswers(pair);
          for (const name of chosen) {
            await changes[name]?.(pair);
            await comparison.expectSameAnswers(pair);
          }
        },
      ),
      { numRuns: 6, endOnFailure: true },
    );
    expect(comparison.uses.hits).toBeGreaterThan(50);
  });
});

it("kept results stay within RESPONSE_CACHE_MB, and a memory that is too small changes no answer", async () => {
  await using world = await createWorld("pglite", { environment: { RESPONSE_CACHE_MB: "1" } });
  const bytes = async (): Promise<number> =>
    Number(/^commerce_response_cache_bytes (\d+)/m.exec((await world.get("/metrics")).text)?.[1]);
  const ids: string[] = [];
  for (let index = 0; index < 80; index += 1)
    ids.push((await makeCart(world, { lines: { "KIT-KVERN": 1, "KIT-EMALJE-WHITE": 2 } })).id);
  const texts = new Map<string, string>();
  for (let turn = 0; turn < 2; turn += 1)
    for (const cartId of ids) {
      const { text } = await callCart(world, "getPublicCart", { cartId });
      expect(text).toBe(texts.get(cartId) ?? text);
      texts.set(cartId, text);
      expect(await bytes()).toBeLessThanOrEqual(1024 * 1024);
    }
  expect(await bytes()).toBeGreaterThan(512 * 1024);
});
