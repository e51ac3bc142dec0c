/** Uses of promotions: concurrent uses never exceed a limit, and released uses can be taken again. */
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import {
  releasePromotionUses,
  redeemPromotionUses,
  restorePromotionUses,
} from "#commerce/promotions/promotion-uses.ts";
import { updatePromotion } from "#commerce/promotions/change-promotion.ts";
import { generatePromotionCodes } from "#commerce/promotions/generate-codes.ts";
import { runInTransaction } from "#database/transaction.ts";
import { Failure } from "#foundation/failure.ts";
import { describeOnBoth, manyConnections } from "#test/support/databases.ts";
import { createWorld, fresh, startOfWorld, type World } from "#test/commerce/writes-world.ts";
import { makePromotion, makeSession, promotionRow, type Taking, taking } from "./promotions-world.ts";

describeOnBoth("uses of promotions", (open, engine) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(() => open({ poolSize: manyConnections }));
  });

  const now = new Date(startOfWorld.getTime() + 60_000);
  const of = (...promotionIds: string[]): Taking["promotions"] =>
    promotionIds.map((promotionId) => ({ promotionId, promotionCodeId: null }));
  const take = (input: Taking) => world.run(taking, input);
  const giveBack = (sessionId: string) =>
    runInTransaction(world.db, (transaction) => releasePromotionUses(transaction, { sessionId, now }));
  const redeem = (sessionId: string) =>
    runInTransaction(world.db, (transaction) =>
      redeemPromotionUses(transaction, { sessionId, orderId: `ord_${sessionId}`, now }),
    );
  const restore = (sessionId: string) =>
    runInTransaction(world.db, (transaction) =>
      restorePromotionUses(transaction, { orderId: `ord_${sessionId}`, now }),
    );
  const usedOf = async (promotionId: string) => (await promotionRow(world, promotionId)).used;
  const codeUsed = async (id: string) =>
    (await world.db.selectFrom("promotionCode").select("used").where("id", "=", id).executeTakeFirstOrThrow())
      .used;
  const buyerUsed = async (promotionId: string, buyerReference: string) =>
    (
      await world.db
        .selectFrom("promotionBuyer")
        .select("used")
        .where("promotionId", "=", promotionId)
        .where("buyerReference", "=", buyerReference)
        .executeTakeFirst()
    )?.used;
  const makeCode = async (promotionId: string, usageLimit: number | null) =>
    (await world.run(generatePromotionCodes, { promotionId, codes: [fresh("code")], usageLimit })).codes[0]
      ?.id ?? "";
  const refusal = (reason: string, promotionId: string) => ({
    code: "promotion_not_applicable",
    details: [],
    conflict: {
      resource: "cart",
      id: "cart_x",
      currentStatus: "locked",
      currentVersion: 1,
      reason,
      data: { promotionId },
    },
  });

  describe("a use", () => {
    it("is counted for the promotion, the code and the buyer, and stored", async () => {
      const promotionId = await makePromotion(world, { trigger: "code", usageLimit: 5 });
      const promotionCodeId = await makeCode(promotionId, 5);
      const sessionId = await makeSession(world);
      await take({ sessionId, buyerReference: "anna", promotions: [{ promotionId, promotionCodeId }] });
      expect([
        await usedOf(promotionId),
        await codeUsed(promotionCodeId),
        await buyerUsed(promotionId, "anna"),
      ]).toEqual([1, 1, 1]);
      expect(
        await world.db.selectFrom("promotionUse").selectAll().where("sessionId", "=", sessionId).execute(),
      ).toMatchObject([
        {
          merchantId: "mer_one",
          promotionId,
          promotionCodeId,
          buyerReference: "anna",
          orderId: null,
          givenBackAt: null,
        },
      ]);
      expect(await promotionRow(world, promotionId)).toMatchObject({ version: 1, updatedAt: startOfWorld });
      expect(world.takeEvents()).toEqual([]);
    });

    it("that is the last one exhausts the promotion, which is published as a separate version", async () => {
      const promotionId = await makePromotion(world, { usageLimit: 2 });
      for (const expected of [
        [],
        [{ type: "promotion.exhausted", id: promotionId, previous: { used: 1 } }],
      ]) {
        await take({ sessionId: await makeSession(world), promotions: of(promotionId) });
        expect(world.takeEvents()).toEqual(expected);
      }
      expect(await promotionRow(world, promotionId)).toMatchObject({ used: 2, version: 2 });
      expect(
        await world.refusal(taking, { sessionId: await makeSession(world), promotions: of(promotionId) }),
      ).toEqual(refusal("usage_limit_reached", promotionId));
    });

    it("of several promotions is taken for all or none, if one is exhausted", async () => {
      const free = await makePromotion(world);
      const spent = await makePromotion(world, { usageLimit: 1 });
      await take({ sessionId: await makeSession(world), promotions: of(spent) });
      const input = {
        sessionId: await makeSession(world),
        buyerReference: "berta",
        promotions: of(free, spent),
      };
      expect(await world.refusal(taking, input)).toEqual(refusal("usage_limit_reached", spent));
      expect(await usedOf(free)).toBe(0);
    });

    it("stops at the code's limit, and leaves other codes of the promotion alone", async () => {
      const promotionId = await makePromotion(world, { trigger: "code" });
      const [once, free] = [await makeCode(promotionId, 1), await makeCode(promotionId, null)];
      await take({
        sessionId: await makeSession(world),
        promotions: [{ promotionId, promotionCodeId: once }],
      });
      const again = {
        sessionId: await makeSession(world),
        promotions: [{ promotionId, promotionCodeId: once }],
      };
      expect(await world.refusal(taking, again)).toEqual(refusal("usage_limit_reached", promotionId));
      await take({ ...again, promotions: [{ promotionId, promotionCodeId: free }] });
      expect([await usedOf(promotionId), await codeUsed(once), await codeUsed(free)]).toEqual([2, 1, 1]);
    });

    it("stops at the buyer's limit, and leaves other buyers alone", async () => {
      const promotionId = await makePromotion(world, { perBuyerLimit: 1 });
      await take({
        sessionId: await makeSession(world),
        buyerReference: "anna",
        promotions: of(promotionId),
      });
      const again = { sessionId: await makeSession(world), promotions: of(promotionId) };
      expect(await world.refusal(taking, { ...again, buyerReference: "anna" })).toEqual(
        refusal("customer_usage_limit_reached", promotionId),
      );
      expect(await world.refusal(taking, { ...again, buyerReference: null })).toEqual(
        refusal("sign_in_required", promotionId),
      );
      await take({ ...again, buyerReference: "berta" });
      expect(await usedOf(promotionId)).toBe(2);
    });

    it("counts towards a buyer's limit that is set later", async () => {
      const promotionId = await makePromotion(world);
      await take({
        sessionId: await makeSession(world),
        buyerReference: "anna",
        promotions: of(promotionId),
      });
      await world.run(updatePromotion, { promotionId, perBuyerLimit: 1 });
      expect(
        await world.refusal(taking, {
          sessionId: await makeSession(world),
          buyerReference: "anna",
          promotions: of(promotionId),
        }),
      ).toEqual(refusal("customer_usage_limit_reached", promotionId));
    });

    it("does not reach a promotion of another merchant", async () => {
      const promotionId = await makePromotion(world, {}, world.other);
      expect(
        await world.refusal(taking, { sessionId: await makeSession(world), promotions: of(promotionId) }),
      ).toMatchObject({
        code: "promotion_not_applicable",
      });
    });

    it("taken twice by one session throws, and counts once", async () => {
      const promotionId = await makePromotion(world);
      const sessionId = await makeSession(world);
      await take({ sessionId, promotions: of(promotionId) });
      const thrown: unknown = await take({ sessionId, promotions: of(promotionId) }).catch(
        (error: unknown) => error,
      );
      expect(thrown).toMatchObject({ constraint: "promotion_use_held" });
      expect(await usedOf(promotionId)).toBe(1);
    });

    it.runIf(engine === "postgres")(
      "taken by twenty sessions at once: with a limit of one, one succeeds and nineteen are refused",
      async () => {
        const promotionId = await makePromotion(world, { usageLimit: 1 });
        const sessions = await Promise.all(Array.from({ length: 20 }, () => makeSession(world)));
        const outcomes = await Promise.allSettled(
          sessions.map((sessionId) => take({ sessionId, promotions: of(promotionId) })),
        );
        expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        const reasons = outcomes.flatMap((outcome) =>
          outcome.status === "rejected" ? [reasonOf(outcome.reason)] : [],
        );
        expect(reasons).toEqual(Array.from({ length: 19 }, () => "usage_limit_reached"));
        expect(await usedOf(promotionId)).toBe(1);
        expect(world.takeEvents().filter(({ type }) => type === "promotion.exhausted")).toHaveLength(1);
      },
    );

    it.runIf(engine === "postgres")(
      "taken by twenty sessions of one buyer: the buyer's limit holds, also for the first use",
      async () => {
        const promotionId = await makePromotion(world, { perBuyerLimit: 2 });
        const sessions = await Promise.all(Array.from({ length: 20 }, () => makeSession(world)));
        const outcomes = await Promise.allSettled(
          sessions.map((sessionId) =>
            take({ sessionId, buyerReference: "carla", promotions: of(promotionId) }),
          ),
        );
        expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
        expect([await usedOf(promotionId), await buyerUsed(promotionId, "carla")]).toEqual([2, 2]);
      },
    );

    it.runIf(engine === "postgres")(
      "of several promotions, taken and released concurrently in any order, causes no deadlock",
      async () => {
        const ids = await Promise.all(Array.from({ length: 4 }, () => makePromotion(world)));
        const sessions = await Promise.all(Array.from({ length: 20 }, () => makeSession(world)));
        // Calls without the retry of `runInTransaction`, so that a deadlock fails the test.
        const alone = (work: (index: number) => Promise<void>) =>
          Promise.all(sessions.map((_, index) => work(index)));
        await alone((index) =>
          world.db.transaction().execute((transaction) =>
            taking(transaction, world.context, {
              sessionId: sessions[index] ?? "",
              promotions: of(...(index % 2 === 0 ? ids : ids.toReversed())),
            }),
          ),
        );
        await alone((index) =>
          world.db
            .transaction()
            .execute((transaction) =>
              releasePromotionUses(transaction, { sessionId: sessions[index] ?? "", now }),
            ),
        );
        expect(await Promise.all(ids.map(usedOf))).toEqual([0, 0, 0, 0]);
      },
    );
  });

  describe("a released use", () => {
    it("can be taken again, by the same session too, and is released once despite repetitions", async () => {
      const promotionId = await makePromotion(world, { trigger: "code", usageLimit: 1, perBuyerLimit: 1 });
      const promotionCodeId = await makeCode(promotionId, 1);
      const sessionId = await makeSession(world);
      const input = { sessionId, buyerReference: "anna", promotions: [{ promotionId, promotionCodeId }] };
      const used = async () => [
        await usedOf(promotionId),
        await codeUsed(promotionCodeId),
        await buyerUsed(promotionId, "anna"),
      ];
      await take(input);
      await giveBack(sessionId);
      expect(await used()).toEqual([0, 0, 0]);
      await giveBack(sessionId);
      expect(await used()).toEqual([0, 0, 0]);
      await take(input);
      expect(await used()).toEqual([1, 1, 1]);
      world.takeEvents();
    });

    it("is not one of another session or of an order", async () => {
      const promotionId = await makePromotion(world);
      const [one, other] = [await makeSession(world), await makeSession(world)];
      await take({ sessionId: one, promotions: of(promotionId) });
      await take({ sessionId: other, promotions: of(promotionId) });
      await redeem(one);
      await giveBack(one);
      expect(await usedOf(promotionId)).toBe(2);
      await giveBack(other);
      expect(await usedOf(promotionId)).toBe(1);
      await giveBack(await makeSession(world));
      expect(await usedOf(promotionId)).toBe(1);
    });

    it("cannot be redeemed for an order, and an order's use is redeemed once", async () => {
      const promotionId = await makePromotion(world);
      const [given, kept] = [await makeSession(world), await makeSession(world)];
      await take({ sessionId: given, promotions: of(promotionId) });
      await take({ sessionId: kept, promotions: of(promotionId) });
      await giveBack(given);
      await redeem(given);
      await redeem(kept);
      await redeem(kept);
      const uses = await world.db
        .selectFrom("promotionUse")
        .select(["sessionId", "orderId", "redeemedAt", "givenBackAt"])
        .where("promotionId", "=", promotionId)
        .orderBy("id")
        .execute();
      expect(uses).toEqual([
        { sessionId: given, orderId: null, redeemedAt: null, givenBackAt: now },
        { sessionId: kept, orderId: `ord_${kept}`, redeemedAt: now, givenBackAt: null },
      ]);
    });
  });

  it("of a canceled order can be taken again, is restored once, and always has an order", async () => {
    const promotionId = await makePromotion(world, { trigger: "code", usageLimit: 2, perBuyerLimit: 2 });
    const promotionCodeId = await makeCode(promotionId, 2);
    const [ordered, held] = [await makeSession(world), await makeSession(world)];
    for (const sessionId of [ordered, held])
      await take({ sessionId, buyerReference: "anna", promotions: [{ promotionId, promotionCodeId }] });
    const used = async () => [
      await usedOf(promotionId),
      await codeUsed(promotionCodeId),
      await buyerUsed(promotionId, "anna"),
    ];
    await restore(ordered);
    expect(await used()).toEqual([2, 2, 2]);
    await redeem(ordered);
    await restore(ordered);
    await restore(ordered);
    expect(await used()).toEqual([1, 1, 1]);
    await take({
      sessionId: await makeSession(world),
      buyerReference: "anna",
      promotions: [{ promotionId, promotionCodeId }],
    });
    expect(await used()).toEqual([2, 2, 2]);
    world.takeEvents();
  });

  it("keeps used = held + redeemed − restored, for any sequence of operations", async () => {
    const sessions = await Promise.all(Array.from({ length: 5 }, () => makeSession(world)));
    const session = fc.constantFrom(...sessions);
    const act = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          act: fc.constant("take"),
          session,
          buyer: fc.constantFrom("anna", "berta", null),
          chosen: fc.subarray([0, 1, 2, 3]),
        }),
      },
      { weight: 2, arbitrary: fc.record({ act: fc.constant("give back"), session }) },
      { weight: 1, arbitrary: fc.record({ act: fc.constant("redeem"), session }) },
      { weight: 1, arbitrary: fc.record({ act: fc.constant("restore"), session }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 30 }), async (history) => {
        const limited = await makePromotion(world, { usageLimit: 3 });
        const perBuyer = await makePromotion(world, { perBuyerLimit: 2 });
        const coded = await makePromotion(world, { trigger: "code", usageLimit: 6, perBuyerLimit: 3 });
        const all = [
          ...of(limited, perBuyer),
          { promotionId: coded, promotionCodeId: await makeCode(coded, 2) },
          { promotionId: await makePromotion(world, { trigger: "code" }), promotionCodeId: null },
        ];
        for (const step of history) {
          if (step.act === "give back") await giveBack(step.session);
          if (step.act === "redeem") await redeem(step.session);
          if (step.act === "restore") await restore(step.session);
          if ("chosen" in step) {
            const promotions = all.filter((_, index) => step.chosen.includes(index));
            await take({ sessionId: step.session, buyerReference: step.buyer, promotions }).catch(
              expectKnown,
            );
          }
          expect(await discrepancies(all.map(({ promotionId }) => promotionId))).toEqual([]);
        }
        for (const sessionId of sessions) await giveBack(sessionId);
      }),
      { numRuns: 20 },
    );
    world.takeEvents();
  });

  /** Promotions whose counter differs from their uses or exceeds the limit. */
  async function discrepancies(promotionIds: readonly string[]): Promise<unknown[]> {
    const live = "u.given_back_at is null and u.restored_at is null";
    return world.database.script(async (run) => {
      const list = promotionIds.map((id) => `'${id}'`).join(", ");
      const [rows = []] = await run(`
        select 'promotion' as what, p.id, p.used from promotion p where p.id in (${list})
          and (p.used <> (select count(*) from promotion_use u where u.promotion_id = p.id and ${live})
          or p.used > p.usage_limit)
        union all select 'code', c.id, c.used from promotion_code c where c.promotion_id in (${list})
          and (c.used <> (select count(*) from promotion_use u where u.promotion_code_id = c.id and ${live})
          or c.used > c.usage_limit)
        union all select 'buyer', b.buyer_reference, b.used from promotion_buyer b join promotion p
        on p.id = b.promotion_id where p.id in (${list})
          and (b.used <> (select count(*) from promotion_use u where u.promotion_id = b.promotion_id
          and u.buyer_reference = b.buyer_reference and ${live})
            or b.used > p.per_buyer_limit)`);
      return rows;
    });
  }
});

function reasonOf(thrown: unknown): unknown {
  return thrown instanceof Failure ? thrown.parts.conflict?.reason : thrown;
}

/** Accepts a refusal, or the error of a session's second use; fails for other errors. */
function expectKnown(thrown: unknown): void {
  if (thrown instanceof Failure) expect(thrown.code).toBe("promotion_not_applicable");
  else expect(thrown).toMatchObject({ constraint: "promotion_use_held" });
}
