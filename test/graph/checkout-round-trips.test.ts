/**
 * The numbers of SQL statements and of round trips to PostgreSQL that changes of checkout sessions need. Both
 * numbers decide how much a change costs, so this test fails if one of them changes. The events of a change
 * are rendered before the change is sent to the database. They must contain the session and its cart as they
 * are stored afterwards.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { loadCheckoutSession, saveCheckoutSession } from "#commerce/checkout/change-session.ts";
import type { CheckoutSessionAggregate } from "#commerce/checkout/session-aggregate.ts";
import { runInTransaction } from "#database/transaction.ts";
import { countTransactionOf, useWorld } from "#test/support/use-world.ts";
import { changeCart, deliveryOf, makeCart, makeCode } from "#test/operations/cart-calls.ts";
import { changeSession, makeSession, type SessionMutation } from "#test/operations/checkout-calls.ts";
import { type Checkout, openCheckout, submit } from "#test/commerce/payments/checkouts.ts";

const address = {
  recipientName: "Anna Beispiel",
  line1: "Musterweg 2",
  postalCode: "10115",
  city: "Berlin",
  countryCode: "DE",
  email: "anna@example.com",
};

describe("the SQL statements and round trips of a checkout", () => {
  const world = useWorld("postgres");
  beforeAll(async () => {
    await makeCode(world(), "Ten-Off");
  });

  const open = (): Promise<Checkout> => openCheckout(world());
  const openWithCode = (): Promise<Checkout> => openCheckout(world(), { code: "ten-off" });
  const change =
    (field: SessionMutation, input: () => object | Promise<object>) =>
    async ({ id }: Checkout): Promise<unknown> =>
      (await changeSession(world(), field, { sessionId: id, input: { ...(await input()) } })).error;

  type Case = readonly [
    name: string,
    sent: { readonly statements: number; readonly roundTrips: number },
    prepare: () => Promise<Checkout>,
    write: (checkout: Checkout) => Promise<unknown>,
  ];
  const cases: readonly Case[] = [
    [
      "hostedCheckoutSessionSubmit",
      { statements: 9, roundTrips: 3 },
      open,
      async (checkout) => (await submit(world(), checkout)).error,
    ],
    [
      "hostedCheckoutSessionSubmit with a promotion code",
      { statements: 14, roundTrips: 4 },
      openWithCode,
      async (checkout) => (await submit(world(), checkout)).error,
    ],
    [
      "hostedCheckoutSessionAddressSet",
      { statements: 13, roundTrips: 3 },
      open,
      change("hostedCheckoutSessionAddressSet", () => ({ address })),
    ],
    [
      "hostedCheckoutSessionContactSet",
      { statements: 11, roundTrips: 3 },
      open,
      change("hostedCheckoutSessionContactSet", () => ({ email: "anna@example.com" })),
    ],
    [
      "hostedCheckoutSessionDeliveryOptionSelect",
      { statements: 9, roundTrips: 3 },
      open,
      change("hostedCheckoutSessionDeliveryOptionSelect", async () => ({
        optionId: await deliveryOf(world(), "express"),
      })),
    ],
    [
      "hostedCheckoutSessionPromotionApply",
      { statements: 9, roundTrips: 3 },
      open,
      change("hostedCheckoutSessionPromotionApply", () => ({ code: "ten-off" })),
    ],
    [
      "hostedCheckoutSessionPromotionRemove",
      { statements: 9, roundTrips: 3 },
      openWithCode,
      change("hostedCheckoutSessionPromotionRemove", () => ({})),
    ],
  ];

  it.each(cases)("%s", async (_name, sent, prepare, write) => {
    const { prepared, counts } = await countTransactionOf(world(), sent.roundTrips, {
      prepare,
      write: async (checkout) => expect(await write(checkout)).toBeUndefined(),
    });
    expect(counts).toEqual(sent);
    await expectStoredStateInEvents(prepared);
  });

  it("stores in the events of a new session the e-mail address that the cart's address contains", async () => {
    let sessionId = "";
    const { prepared, counts } = await countTransactionOf(world(), 3, {
      prepare: async () => {
        const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
        await changeCart(world(), "cartAddressSet", { cartId, input: { address } });
        return cartId;
      },
      write: async (cartId) => {
        ({ id: sessionId } = await makeSession(world(), { cartId }));
      },
    });
    expect(counts).toEqual({ statements: 10, roundTrips: 3 });
    await expectStoredStateInEvents({ id: sessionId, cartId: prepared });
  });

  it("an update of a session whose stored version has changed meanwhile fails, and changes nothing", async () => {
    const { id } = await open();
    const { database, clock } = world();
    const stored = (): Promise<CheckoutSessionAggregate> =>
      runInTransaction(database.db, (transaction) => loadCheckoutSession(transaction, id));
    const session = await stored();
    const context = { now: clock.now() };
    const saveTwice = runInTransaction(database.db, async (transaction) => {
      await saveCheckoutSession(transaction, context, { session, patch: { locale: "de" } });
      await saveCheckoutSession(transaction, context, { session, patch: { locale: "en" } });
    });
    await expect(saveTwice).rejects.toThrow('null value in column "version"');
    expect(await stored()).toEqual(session);
  });

  /** Compares the newest events about the session and about its cart with the stored session and cart. */
  async function expectStoredStateInEvents({ id, cartId }: Pick<Checkout, "id" | "cartId">): Promise<void> {
    const { app, database, demo } = world();
    const merchantId = demo.merchants.first.id;
    const compared: string[] = [];
    for (const [type, subjectId] of [
      ["checkout_session", id],
      ["cart", cartId],
    ] as const) {
      const stored = await runInTransaction(database.db, (transaction) =>
        app.services.render(transaction, {
          type,
          id: subjectId,
          merchantId,
          object: undefined,
          batch: {},
        }),
      );
      const { snapshot } = await database.db
        .selectFrom("event")
        .select("snapshot")
        .where("subjectId", "=", subjectId)
        .orderBy("subjectVersion", "desc")
        .executeTakeFirstOrThrow();
      const { data } = JSON.parse(snapshot) as { data: { object: Record<string, unknown> } };
      // A change may raise the version of only one of the two, and then publishes no event about the other.
      if (data.object["version"] !== stored["version"]) continue;
      compared.push(type);
      expect({ type, object: withoutSessionStatus(data.object) }).toEqual({
        type,
        object: withoutSessionStatus(stored),
      });
    }
    expect(compared).not.toEqual([]);
  }
});

/** The status of a cart's checkout session can change without a change of the cart. */
const withoutSessionStatus = ({
  checkout: _checkout,
  ...object
}: Readonly<Record<string, unknown>>): object => object;
