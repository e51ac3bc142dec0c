/**
 * Erasing a buyer during concurrent changes: data added between the search and the locks is erased too, or
 * nothing is.
 */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { findAndEraseBuyerData } from "#app/erase-buyers.ts";
import type { Database, SqlScriptRunner } from "#database/connect.ts";
import { createEncryptionKeyring, type EncryptionKeyring } from "#foundation/encryption.ts";
import { type Checkout, drive, openCheckout, submitted } from "#test/commerce/payments/checkouts.ts";
import { berlin, callCart, changeCart, makeCart } from "#test/operations/cart-calls.ts";
import { encryptionKeys } from "#test/support/copies.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";

const [keyName = "", base64 = ""] = encryptionKeys.split(":");
const keyring = createEncryptionKeyring([{ id: keyName, key: Buffer.from(base64, "base64") }]);
const held = 4_711;

/** Wraps a database so that `happens` runs before each transaction. */
function onTransaction(db: Database, happens: () => Promise<unknown>): Database {
  return new Proxy(db, {
    get: (target, key): unknown => {
      const value: unknown = Reflect.get(target, key);
      if (key === "transaction")
        return () => ({
          execute: async (work: never) => (await happens(), target.transaction().execute(work)),
        });
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe("erasing while an order is placed", () => {
  const world = useWorld();
  beforeAll(async () => {
    // A transaction that inserts an order waits here with the cart locked, as long as the test wants.
    await sql`create function wait_there() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(${sql.lit(held)}); return new; end $$`.execute(
      world().database.db,
    );
    await sql`create trigger wait_there before insert on sales_order
      for each row execute function wait_there()`.execute(world().database.db);
  });

  const erase = (cartId: string, isForced: boolean) => {
    const { db, render } = world().app.services;
    return findAndEraseBuyerData(
      { db, keyring, render, publicUrl, now: world().clock.now() },
      { target: { by: "cart", value: cartId }, isForced },
    );
  };
  const waiting = (statement: string) => async (): Promise<number> => {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like ${statement}`.execute(
      world().database.db,
    );
    return rows[0]?.count ?? 0;
  };
  /** Starts erasing before the order is committed; erasing must wait for the order. */
  async function eraseMeanwhile(
    checkout: Checkout,
    isForced: boolean,
  ): Promise<PromiseSettledResult<unknown>> {
    await submitted(world(), checkout, "tok_success");
    return world().database.script(async (run: SqlScriptRunner) => {
      await run(`select pg_advisory_lock(${held})`);
      const placing = drive(world());
      await expect.poll(waiting("insert into %sales_order%")).toBe(1);
      const erasing = Promise.allSettled([erase(checkout.cartId, isForced)]);
      await expect.poll(waiting("select id from cart %for no key update")).toBe(1);
      await run(`select pg_advisory_unlock(${held})`);
      await placing;
      return (await erasing)[0];
    });
  }
  const placed = (cartId: string) =>
    world()
      .database.db.selectFrom("salesOrder")
      .select(["id", "addressId"])
      .where("cartId", "=", cartId)
      .execute();
  const addressOf = (id: string | null | undefined) =>
    world()
      .database.db.selectFrom("personalData")
      .select(["sealed", "erasedAt"])
      .where("id", "=", id ?? "")
      .executeTakeFirstOrThrow();

  it("is refused because of the order, unknown at the start, and erases nothing", async () => {
    const checkout = await openCheckout(world());
    const result = await eraseMeanwhile(checkout, false);
    const [order] = await placed(checkout.cartId);
    expect(result).toMatchObject({ status: "rejected", reason: { code: "invalid_state", status: 409 } });
    expect(String((result as PromiseRejectedResult).reason.message)).toContain(
      `Orders are not completed (${order?.id})`,
    );
    expect(await addressOf(order?.addressId)).toEqual({ sealed: expect.any(Uint8Array), erasedAt: null });
  });

  it("includes the order if forced", async () => {
    const checkout = await openCheckout(world());
    expect(await eraseMeanwhile(checkout, true)).toMatchObject({
      status: "fulfilled",
      value: { carts: 1, orders: 1, personalData: 1 },
    });
    const orders = await placed(checkout.cartId);
    expect(orders).toHaveLength(1);
    expect(await addressOf(orders[0]?.addressId)).toEqual({ sealed: null, erasedAt: expect.any(Date) });
    const { rows: counts } = await sql<{ count: number }>`
      select count(*) as count from event where subject_id = ${orders[0]?.id}
      and snapshot not like '%"truncated":true%'`.execute(world().database.db);
    expect(counts).toEqual([{ count: 0 }]);
  });
});

describe("erasing while data changes", () => {
  const world = useWorld();
  const buyer = "restless";
  /** Runs `happens` after each search of erasing. */
  const eraseWhile = (happens: (round: number) => Promise<unknown>) => {
    const { db, render } = world().app.services;
    let rounds = 0;
    const slow = onTransaction(db, () => happens((rounds += 1)));
    const target = {
      by: "buyerReference",
      value: buyer,
      merchantId: world().demo.merchants.first.id,
    } as const;
    return findAndEraseBuyerData(
      { db: slow, keyring, render, publicUrl, now: world().clock.now() },
      { target, isForced: false },
    );
  };
  const newCart = async (): Promise<void> => {
    const { id: cartId } = await makeCart(world(), {
      lines: { "KIT-KVERN": 1 },
      buyer,
      input: { buyerReference: buyer },
    });
    await changeCart(world(), "cartBuyerSet", {
      cartId,
      buyer,
      input: { buyerReference: buyer, email: "r@shop.example" },
    });
  };

  it("includes data added meanwhile, and fails if data is added again and again", async () => {
    await newCart();
    expect(await eraseWhile((round) => (round < 3 ? newCart() : Promise.resolve()))).toMatchObject({
      carts: 3,
      personalData: 3,
    });
    await newCart();
    const erasedBefore = await world()
      .database.db.selectFrom("personalData")
      .select("id")
      .where("erasedAt", "is not", null)
      .execute();
    await expect(eraseWhile(newCart)).rejects.toMatchObject({
      code: "invalid_state",
      message: expect.stringContaining("nothing was erased. Run the command again."),
    });
    expect(
      await world()
        .database.db.selectFrom("personalData")
        .select("id")
        .where("erasedAt", "is not", null)
        .execute(),
    ).toEqual(erasedBefore);
  });
});

describe("stored answers for retries", () => {
  const world = useWorld();
  const mine = {
    recipientName: "Vibeke Qvist",
    line1: "Keizersgracht 9",
    city: "Amsterdam",
    postalCode: "1015AA",
    countryCode: "NL",
    phone: "+31201234987",
  };
  /** Sets an address over REST; the answer contains its mask. */
  const setAddress = async (cartId: string, address: object): Promise<void> => {
    const { status, body } = await callCart(world(), "setPublicCartAddress", { cartId, body: { address } });
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
  };
  const kept = () =>
    world()
      .database.db.selectFrom("idempotencyRecord")
      .select(["ownerId", "idempotencyKey", "keyId", "fingerprint"])
      .orderBy("createdAt")
      .execute();

  it("are searched before the transaction, new ones within it; undecryptable ones are emptied", async () => {
    const { db, render } = world().app.services;
    const [cart, other] = [
      await makeCart(world(), { lines: { "KIT-KVERN": 1 } }),
      await makeCart(world(), { lines: { "KIT-KVERN": 1 } }),
    ];
    expect(await kept()).toEqual([]);
    await setAddress(other.id, berlin);
    await sql`update idempotency_record set key_id = 'gone'`.execute(db);
    world().clock.advance(1);
    await setAddress(cart.id, mine);
    world().clock.advance(3_600_000);
    await setAddress(other.id, berlin);
    world().clock.advance(1);
    await setAddress(cart.id, mine);
    const before = await kept();

    const opened = { outside: 0, inside: 0 };
    let where: keyof typeof opened = "outside";
    const watched: EncryptionKeyring = {
      ...keyring,
      open: (sealed, place) => {
        if (place.table === "idempotency_record") opened[where] += 1;
        return keyring.open(sealed, place);
      },
    };
    const watchedDb = onTransaction(db, () => Promise.resolve((where = "inside")));
    const services = { db: watchedDb, keyring: watched, render, publicUrl, now: world().clock.now() };
    const erased = await findAndEraseBuyerData(services, {
      target: { by: "cart", value: cart.id },
      isForced: false,
    });
    expect({ opened, keptAnswers: erased.keptAnswers }).toEqual({
      opened: { outside: 4, inside: 2 },
      keptAnswers: 3,
    });
    const after = await kept();
    expect(after.map(({ keyId }) => keyId)).toEqual([keyName, keyName, keyName, keyName]);
    expect(
      after.map(({ fingerprint }, index) =>
        Buffer.from(fingerprint).equals(before[index]?.fingerprint ?? Buffer.alloc(0)),
      ),
    ).toEqual([false, false, true, false]);
  });
});
