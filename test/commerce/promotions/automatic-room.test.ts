/**
 * The number of active automatic promotions of a merchant is limited, because each change of a cart evaluates
 * all of them.
 */
import { beforeAll, expect, it } from "vitest";
import { promotionFieldBounds } from "#commerce/promotions/promotion-fields.ts";
import { activatePromotion, pausePromotion } from "#commerce/promotions/promotion-status.ts";
import { createWorld, type World } from "#test/commerce/writes-world.ts";
import { describeOnBoth, manyConnections } from "#test/support/databases.ts";
import { makePromotion } from "./promotions-world.ts";

describeOnBoth("automatic promotions", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(() => open({ poolSize: manyConnections }));
  });

  it("are active up to the limit; codes do not count, and a paused promotion makes room", async () => {
    const ids: string[] = [];
    for (let count = 0; count < promotionFieldBounds.activeAutomaticMax; count += 1) {
      const promotionId = await makePromotion(world);
      await world.run(activatePromotion, { promotionId });
      ids.push(promotionId);
    }
    const code = await makePromotion(world, { trigger: "code" });
    await world.run(activatePromotion, { promotionId: code });
    const promotionId = await makePromotion(world);
    const refusal = await world.refusal(activatePromotion, { promotionId });
    expect(refusal).toMatchObject({
      code: "invalid_state",
      conflict: { reason: "too_many_automatic", data: { limit: 50 } },
    });
    await world.run(pausePromotion, { promotionId: ids[0] ?? "" });
    await expect(world.run(activatePromotion, { promotionId })).resolves.toEqual({ promotionId });
  });

  it("never exceed the limit if many are activated at once", async () => {
    const active = world.db
      .selectFrom("promotion")
      .select("id")
      .where("status", "=", "active")
      .where("trigger", "=", "automatic")
      .orderBy("id");
    for (const { id } of (await active.execute()).slice(0, 2))
      await world.run(pausePromotion, { promotionId: id });
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.push(await makePromotion(world));
    const outcomes = await Promise.allSettled(
      ids.map((promotionId) => world.run(activatePromotion, { promotionId })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(await active.execute()).toHaveLength(promotionFieldBounds.activeAutomaticMax);
  });
});
