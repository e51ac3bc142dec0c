/**
 * getStorefrontOrderCancellationEligibility: the whole answer, a denial as a 200 with reasons, and the
 * callers that may read it.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { sql } from "kysely";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { insertOrder } from "#test/support/orders.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { askGraph, eur, withoutTrace } from "./cart-calls.ts";
import { describeEligibilityRefusals, urlOf } from "./eligibility-refusals.ts";

describe.each(["pglite", "postgres"] as const)(
  "getStorefrontOrderCancellationEligibility on %s",
  (engine) => {
    const world = useWorld(engine);
    let contract: Contract;
    beforeAll(async () => {
      contract = await readContract(world());
    });

    const read = (orderId: string, headers: Readonly<Record<string, string>> = {}) =>
      world().get(urlOf(orderId, "cancellation-eligibility"), {
        authorization: `Bearer ${world().demo.keys.full}`,
        ...headers,
      });
    const iso = (minutes: number): string =>
      new Date(world().clock.now().getTime() + minutes * 60_000).toISOString();

    it("answers for an order that is only paid, with at most two statements", async () => {
      const order = await insertOrder(world());
      const answer = await withoutTrace(world(), () => read(order.id, { "accept-language": "en-GB" }));
      expect(answer.status).toBe(200);
      expect(contract.faultsOf("getStorefrontOrderCancellationEligibility", 200, answer.body)).toEqual([]);
      const [first, second] = order.lines;
      const choice = (actor: string, code: string, label: string): unknown => ({ code, label, actor });
      expect(answer.body).toEqual({
        data: {
          orderId: order.id,
          orderVersion: 1,
          action: "cancel",
          decision: "allowed",
          scope: "order",
          reasons: [],
          lines: [
            {
              lineId: first?.id,
              decision: "allowed",
              cancelableQuantity: 1,
              orderedQuantity: 1,
              reasons: [],
            },
            {
              lineId: second?.id,
              decision: "allowed",
              cancelableQuantity: 2,
              orderedQuantity: 2,
              reasons: [],
            },
          ],
          allowedReasonCodes: [
            choice("buyer", "ordered_by_mistake", "Ordered by mistake"),
            choice("buyer", "changed_mind", "Changed my mind"),
            choice("buyer", "better_price", "Found a better price"),
            choice("buyer", "arrives_too_late", "Arrives too late"),
            choice("buyer", "wrong_address", "Wrong address"),
            choice("buyer", "other", "Another reason"),
            choice("merchant", "out_of_stock", "Out of stock"),
            choice("merchant", "fraud_suspected", "Fraud suspected"),
            choice("merchant", "price_error", "Wrong price"),
            choice("merchant", "buyer_unreachable", "The buyer cannot be reached"),
            choice("merchant", "other", "Another reason"),
          ],
          deadline: { at: iso(60), clock: "placed", policyMinutes: 60 },
          refund: {
            estimated: eur(order.totalMinor),
            method: "refund",
            shippingRefunded: true,
            fees: [],
            promotionEffect: "kept",
          },
          consequences: ["stock_released", "order_canceled"],
          alternatives: [],
          policy: {
            id: order.policies.find(({ type }) => type === "cancellation")?.id,
            type: "cancellation",
            summary: "How it is with cancellation.",
          },
          evaluatedAt: iso(0),
          validUntil: iso(15),
        },
      });
      expect(answer.headers).toMatchObject({
        "cache-control": "no-store",
        "x-api-stability": "candidate",
        vary: "Authorization, Accept-Language",
        "content-language": "en",
      });
      expect(await statementsOf(world(), () => read(order.id))).toHaveLength(2);
    });

    it("answers 200 with the reasons for an order that cannot be canceled", async () => {
      const { id } = await insertOrder(world(), {
        status: "canceled",
        quantities: { "KIT-KVERN": { canceled: 1 }, "KIT-EMALJE-WHITE": { canceled: 2 } },
      });
      const answer = await read(id, { "accept-language": "en" });
      expect(contract.faultsOf("getStorefrontOrderCancellationEligibility", 200, answer.body)).toEqual([]);
      expect([answer.status, answer.body.data]).toMatchObject([
        200,
        {
          decision: "denied",
          scope: "none",
          allowedReasonCodes: [],
          refund: null,
          consequences: [],
          alternatives: [],
        },
      ]);
      expect(answer.body.data.reasons).toEqual([
        { code: "order_already_canceled", message: "The order is canceled.", blocking: true, data: {} },
      ]);
    });

    it("has all its texts in the caller's language, which Content-Language names", async () => {
      const { id } = await insertOrder(world(), {
        placedAt: new Date(world().clock.now().getTime() - 7_200_000),
      });
      const answer = await read(id, { "accept-language": "fr, ja;q=0.8, en;q=0.5" });
      expect(contract.faultsOf("getStorefrontOrderCancellationEligibility", 200, answer.body)).toEqual([]);
      expect([answer.headers["content-language"], answer.body.data.locale ?? null]).toEqual(["ja", null]);
      const { reasons, lines, allowedReasonCodes, policy } = answer.body.data;
      const texts: string[] = [
        ...[...reasons, ...lines.flatMap((line: { reasons: unknown[] }) => line.reasons)].map(
          ({ message }) => message,
        ),
        ...allowedReasonCodes.map(({ label }: { label: string }) => label),
        policy.summary,
      ];
      expect(texts.length).toBeGreaterThan(5);
      expect(texts.filter((text) => !/[\u3040-\u30ff\u4e00-\u9fff]/.test(text))).toEqual([]);
      // A storefront can name the languages in the document instead.
      const query =
        'query ($id: ID!) { order(id: $id) { cancellationEligibility(languages: ["de-AT"]) { locale ' +
        "reasons { message } policy { summary } } } }";
      expect(
        (await askGraph(world(), query, { id }, { buyer: "buyer-1" })).data.cancellationEligibility,
      ).toEqual({
        locale: "de",
        reasons: [{ message: "Die Frist für Stornierungen ist abgelaufen. Der Händler entscheidet." }],
        policy: { summary: expect.stringMatching(/^Sie können eine Bestellung innerhalb von 60 Minuten/) },
      });
    });

    it("becomes a request from the millisecond in which the cancellation period ends", async () => {
      const placedAt = new Date(world().clock.now().getTime() - 60 * 60_000 + 1);
      const { id } = await insertOrder(world(), { placedAt });
      expect((await read(id)).body.data).toMatchObject({
        decision: "allowed",
        validUntil: new Date(world().clock.now().getTime() + 1).toISOString(),
      });
      await sql`update sales_order set placed_at = placed_at - interval '1 millisecond', version = version + 1
        where id = ${id}`.execute(world().database.db);
      expect((await read(id)).body.data).toMatchObject({
        decision: "request_required",
        reasons: [{ code: "cancellation_window_elapsed", blocking: false }],
      });
    });

    it("answers a storefront for its own buyer, and not for another buyer", async () => {
      const { id } = await insertOrder(world());
      const query =
        "query ($id: ID!) { order(id: $id) { cancellationEligibility { decision lines { decision } " +
        "policy { id } } } }";
      const own = await askGraph(world(), query, { id }, { buyer: "buyer-1" });
      expect(own.data.cancellationEligibility).toMatchObject({ decision: "ALLOWED" });
      expect((await askGraph(world(), query, { id }, { buyer: "buyer-2" })).data).toBeNull();
    });

    describeEligibilityRefusals("cancellation-eligibility", world);
  },
);
