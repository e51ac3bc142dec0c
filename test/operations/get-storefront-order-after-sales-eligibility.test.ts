/**
 * getStorefrontOrderAfterSalesEligibility: the whole answer, facts from outside the order (stock, the buyer's
 * other returns), and the callers that may read it.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { sql } from "kysely";
import { returnKinds } from "#commerce/orders/order-states.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { insertOrder } from "#test/support/orders.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { askGraph, eur, withoutTrace } from "./cart-calls.ts";
import { describeEligibilityRefusals, urlOf } from "./eligibility-refusals.ts";

const day = 86_400_000;

describe.each(["pglite", "postgres"] as const)("getStorefrontOrderAfterSalesEligibility on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  const read = (orderId: string, headers: Readonly<Record<string, string>> = {}) =>
    world().get(urlOf(orderId, "after-sales-eligibility"), {
      authorization: `Bearer ${world().demo.keys.full}`,
      ...headers,
    });
  const daysAgo = (days: number): Date => new Date(world().clock.now().getTime() - days * day);
  /** The decision for each kind of request on the line. */
  const decisionsOf = (line: { options: { kind: string; decision: string }[] }) =>
    Object.fromEntries(line.options.map(({ kind, decision }) => [kind, decision]));

  it("answers for a delivered order with at most three statements", async () => {
    const deliveredAt = daysAgo(3);
    const order = await insertOrder(world(), { deliveredAt, placedAt: daysAgo(6) });
    const answer = await withoutTrace(world(), () => read(order.id, { "accept-language": "en" }));
    expect(answer.status).toBe(200);
    expect(contract.faultsOf("getStorefrontOrderAfterSalesEligibility", 200, answer.body)).toEqual([]);
    const { lines, orderLevel, ...rest } = answer.body.data;
    const idOf = (type: string) => order.policies.find((policy) => policy.type === type)?.id;
    const policy = (type: string, clock: string, windowDays: number | null): unknown => ({
      id: idOf(type),
      type,
      clock,
      windowDays,
      summary: `How it is with ${type}.`,
      url: null,
    });
    expect(rest).toEqual({
      orderId: order.id,
      orderVersion: 1,
      decision: "eligible",
      openCases: [],
      policies: [
        policy("return", "delivered", 30),
        policy("withdrawal", "delivered", 14),
        policy("warranty", "warranty_start", null),
      ],
      evaluatedAt: world().clock.now().toISOString(),
      validUntil: new Date(world().clock.now().getTime() + 15 * 60_000).toISOString(),
    });
    const [first] = order.lines;
    expect(lines[0]).toMatchObject({
      lineId: first?.id,
      quantities: { ordered: 1, delivered: 1, returned: 0 },
    });
    expect(lines[0].options.map(({ kind }: { kind: string }) => kind)).toEqual(returnKinds);
    expect(lines[0].options[0]).toEqual({
      kind: "return_refund",
      decision: "allowed",
      eligibleQuantity: 1,
      reasons: [],
      allowedReasonCodes: expect.arrayContaining(["unwanted", "defective"]),
      window: {
        clock: "delivered",
        startsAt: deliveredAt.toISOString(),
        endsAt: expect.stringMatching(/:59:59\.999Z$/),
        estimated: false,
      },
      methods: ["mail"],
      fees: [{ code: "return_shipping", amount: eur(0), basisPoints: null, payer: "merchant" }],
      estimatedRefund: eur(first?.totalMinor ?? 0),
      settlement: ["original_payment"],
      evidenceRequired: [],
      policyId: idOf("return"),
    });
    expect(orderLevel).toMatchObject([
      { kind: "refund_undelivered", decision: "denied", eligibleQuantity: 0 },
      {
        kind: "withdrawal",
        decision: "allowed",
        eligibleQuantity: 3,
        estimatedRefund: eur(order.totalMinor),
      },
    ]);
    expect(await statementsOf(world(), () => read(order.id))).toHaveLength(3);
  });

  it("answers 200 for an order that is eligible for nothing", async () => {
    const answer = await read((await insertOrder(world())).id);
    expect(contract.faultsOf("getStorefrontOrderAfterSalesEligibility", 200, answer.body)).toEqual([]);
    expect([answer.status, answer.body.data.decision]).toEqual([200, "not_eligible"]);
    expect(answer.body.data.lines[0].options[0]).toMatchObject({
      decision: "denied",
      reasons: [{ code: "not_fulfilled", blocking: true }],
    });
  });

  it("has all its texts in the caller's language, which Content-Language names", async () => {
    const { id } = await insertOrder(world());
    const answer = await read(id, { "accept-language": "de-CH, en;q=0.5" });
    expect(contract.faultsOf("getStorefrontOrderAfterSalesEligibility", 200, answer.body)).toEqual([]);
    expect([
      answer.headers["content-language"],
      answer.headers["vary"],
      answer.body.data.locale ?? null,
    ]).toEqual(["de", "Authorization, Accept-Language", null]);
    const { lines, policies } = answer.body.data;
    expect(lines[0].options[0].reasons[0].message).toMatch(/^Der Artikel wurde noch nicht versandt\./);
    // The merchant wrote these summaries in English only, so the answer describes the policies' rules.
    expect(policies.map(({ summary }: { summary: string }) => summary)).toEqual([
      "Sie können Ihren Kauf innerhalb von 30 Tagen nach der Lieferung zurückgeben, und innerhalb von 30 " +
        "Tagen nach der Lieferung umtauschen.",
      "Sie können den Kauf innerhalb von 14 Tagen nach der Lieferung ohne Angabe von Gründen widerrufen; " +
        "wird nichts geliefert, zählt der Tag der Bestellung.",
      "Auf Ihren Kauf besteht ab der Lieferung 24 Monate Garantie.",
    ]);
  });

  it("allows an exchange only while another variant is in stock; expired holds count as free", async () => {
    const { db } = world().database;
    const order = await insertOrder(world(), { lines: { "KIT-EMALJE-WHITE": 1 }, deliveredAt: daysAgo(1) });
    const exchange = async () => decisionsOf((await read(order.id)).body.data.lines[0]).exchange;
    expect(await exchange()).toBe("allowed");
    const [line] = order.lines;
    await sql`update stock_level s set reserved = s.on_hand from variant v
      where v.id = s.variant_id and v.product_id = ${line?.productId} and v.id <> ${line?.variantId}`.execute(
      db,
    );
    expect(await exchange()).toBe("denied");
    const hold = (expiresAt: Date | null) =>
      sql`insert into stock_hold (session_id, variant_id, merchant_id, quantity, expires_at)
        select ${order.sessionId}, v.id, v.merchant_id, 1, ${expiresAt}::timestamptz from variant v
        join stock_level s on s.variant_id = v.id
        where v.product_id = ${line?.productId} and v.id <> ${line?.variantId} and s.on_hand > 0
        on conflict (session_id, variant_id) do update set expires_at = excluded.expires_at`.execute(db);
    await hold(null);
    expect(await exchange()).toBe("denied");
    const lapsesAt = new Date(world().clock.now().getTime() + 1);
    await hold(lapsesAt);
    expect(await exchange()).toBe("denied");
    // The hold expires without a write, so the answer is valid only until then.
    expect((await read(order.id)).body.data.validUntil).toBe(lapsesAt.toISOString());
    await hold(world().clock.now());
    expect(await exchange()).toBe("allowed");
  });

  it("counts the buyer's returns of the last year over all of the buyer's orders", async () => {
    const { db } = world().database;
    const buyer = "often-returning";
    const policies = { return: { returnsPerBuyerMax: 2 }, warranty: { months: 0 } };
    const other = await insertOrder(world(), { buyer, deliveredAt: daysAgo(400), placedAt: daysAgo(401) });
    const insertReturn = (days: number, status: "closed" | "declined") =>
      runInTransaction(db, async (transaction) => {
        const [requestedAt, updatedAt] = [daysAgo(days), daysAgo(days)];
        const ids = { id: createId("return"), orderId: other.id, merchantId: other.merchant.id };
        const row = {
          ...ids,
          kind: "return_refund" as const,
          status,
          reason: "unwanted",
          requestedAt,
          updatedAt,
        };
        await transaction.insertInto("orderReturn").values(row).execute();
        await sql`update sales_order set version = version + 1 where id = ${other.id}`.execute(transaction);
      });
    const { id } = await insertOrder(world(), { buyer, deliveredAt: daysAgo(1), policies });
    const returned = async () => (await read(id)).body.data.lines[0].options[0];
    await insertReturn(364, "closed");
    await insertReturn(366, "closed");
    await insertReturn(1, "declined");
    expect(await returned()).toMatchObject({ decision: "allowed" });
    await insertReturn(2, "closed");
    expect((await returned()).reasons).toMatchObject([
      { code: "buyer_limit_reached", data: { limit: 2, returns: 2 } },
    ]);
    // The first return is one year old in a day. One minute before, the answer is valid for one minute.
    world().clock.advance(day - 60_000);
    const { evaluatedAt, validUntil } = (await read(id)).body.data;
    expect(Date.parse(validUntil) - Date.parse(evaluatedAt)).toBe(60_000);
    world().clock.advance(60_000);
    expect(await returned()).toMatchObject({ decision: "allowed" });
    world().clock.advance(-day);
  });

  it("adds one statement for a list of orders, within a storefront's cost limit", async () => {
    const buyer = "with-three-orders";
    for (let count = 0; count < 3; count += 1) await insertOrder(world(), { buyer });
    const query =
      "{ orders(first: 3) { edges { node { afterSalesEligibility { decision lines { options { kind " +
      "decision } } } } } } }";
    let answer = await askGraph(world(), query, {}, { buyer });
    expect(answer.data.edges).toHaveLength(3);
    const statements = await statementsOf(world(), async () => {
      answer = await askGraph(world(), query, {}, { buyer });
    });
    expect(statements.filter((text) => text.includes("stock_hold"))).toHaveLength(1);
  });

  describeEligibilityRefusals("after-sales-eligibility", world);
});
