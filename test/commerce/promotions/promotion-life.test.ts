/** The life cycle of a promotion: every move from every status, each published once. */
import { beforeAll, describe, expect, it } from "vitest";
import { activatePromotion, endPromotion, pausePromotion } from "#commerce/promotions/promotion-status.ts";
import { updatePromotion } from "#commerce/promotions/change-promotion.ts";
import type { PromotionStatus } from "#commerce/promotions/promotion-rule.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { createWorld, startOfWorld, type World } from "#test/commerce/writes-world.ts";
import { makePromotion, promotionRow } from "./promotions-world.ts";

const verbs = { activate: activatePromotion, pause: pausePromotion, end: endPromotion };

/**
 * Each move's result: the published event, `nothing` if the promotion already has the status, or the reason
 * of the refusal.
 */
const moves: [PromotionStatus, keyof typeof verbs, PromotionStatus, string][] = [
  ["draft", "activate", "active", "promotion.started"],
  ["draft", "pause", "draft", "promotion_not_active"],
  ["draft", "end", "ended", "promotion.ended"],
  ["active", "activate", "active", "nothing"],
  ["active", "pause", "paused", "promotion.updated"],
  ["active", "end", "ended", "promotion.ended"],
  ["paused", "activate", "active", "promotion.started"],
  ["paused", "pause", "paused", "nothing"],
  ["paused", "end", "ended", "promotion.ended"],
  ["ended", "activate", "ended", "promotion_ended"],
  ["ended", "pause", "ended", "promotion_ended"],
  ["ended", "end", "ended", "nothing"],
];

describeOnPostgres("a promotion's life", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  async function promotionIn(status: PromotionStatus): Promise<string> {
    const promotionId = await makePromotion(world);
    if (status === "active" || status === "paused") await world.run(activatePromotion, { promotionId });
    if (status === "paused") await world.run(pausePromotion, { promotionId });
    if (status === "ended") await world.run(endPromotion, { promotionId });
    world.takeEvents();
    return promotionId;
  }

  it.each(moves)("%s, %s: %s, %s", async (from, move, to, outcome) => {
    const promotionId = await promotionIn(from);
    const { version } = await promotionRow(world, promotionId);
    if (!outcome.startsWith("promotion.") && outcome !== "nothing") {
      expect(await world.refusal(verbs[move], { promotionId, expectedVersion: 999 })).toEqual({
        code: "invalid_state",
        details: [],
        conflict: {
          resource: "promotion",
          id: promotionId,
          currentStatus: from,
          currentVersion: version,
          reason: outcome,
          data: {},
        },
      });
      return;
    }
    expect(
      await world.run(verbs[move], { promotionId, expectedVersion: version }, world.later(1000)),
    ).toEqual({ promotionId });
    const isChanged = outcome !== "nothing";
    expect(await promotionRow(world, promotionId)).toMatchObject({
      status: to,
      version: isChanged ? version + 1 : version,
      updatedAt: isChanged ? new Date(startOfWorld.getTime() + 1000) : startOfWorld,
    });
    expect(world.takeEvents()).toEqual(
      isChanged ? [{ type: outcome, id: promotionId, previous: { status: from } }] : [],
    );
  });

  describe("every move", () => {
    it.each(["activate", "pause", "end"] as const)("refuses a wrong expected version: %s", async (move) => {
      const promotionId = await promotionIn(move === "activate" ? "draft" : "active");
      const { version, status } = await promotionRow(world, promotionId);
      expect(await world.refusal(verbs[move], { promotionId, expectedVersion: version + 1 })).toEqual({
        code: "version_conflict",
        details: [],
        conflict: {
          resource: "promotion",
          id: promotionId,
          currentStatus: status,
          currentVersion: version,
          reason: null,
          data: {},
        },
      });
    });

    it.each(["activate", "pause", "end"] as const)(
      "does not find a promotion of another merchant: %s",
      async (move) => {
        const promotionId = await makePromotion(world, {}, world.other);
        expect(await world.refusal(verbs[move], { promotionId })).toEqual({
          code: "resource_not_found",
          details: [],
          conflict: null,
        });
        expect(await promotionRow(world, promotionId)).toMatchObject({ status: "draft", version: 1 });
      },
    );
  });

  it("cannot activate a promotion after its period, but can a millisecond before the end", async () => {
    const endsAt = new Date(startOfWorld.getTime() + 1000);
    const promotionId = await makePromotion(world, { endsAt });
    expect(await world.refusal(activatePromotion, { promotionId }, world.later(1000))).toEqual({
      code: "invalid_state",
      details: [],
      conflict: {
        resource: "promotion",
        id: promotionId,
        currentStatus: "draft",
        currentVersion: 1,
        reason: "window_over",
        data: { endsAt: endsAt.toISOString() },
      },
    });
    await world.run(activatePromotion, { promotionId }, world.later(999));
    expect(await promotionRow(world, promotionId)).toMatchObject({ status: "active" });
  });

  it("publishes the start once the period has begun, and an earlier activation as an update", async () => {
    world.takeEvents();
    const startsAt = new Date(startOfWorld.getTime() + 1000);
    const promotionId = await makePromotion(world, { startsAt });
    await world.run(activatePromotion, { promotionId }, world.later(999));
    expect(world.takeEvents()).toEqual([
      { type: "promotion.updated", id: promotionId, previous: { status: "draft" } },
    ]);
    expect(await promotionRow(world, promotionId)).toMatchObject({
      status: "active",
      version: 2,
      startedAt: null,
    });
    await world.run(pausePromotion, { promotionId }, world.later(999));
    world.takeEvents();
    await world.run(activatePromotion, { promotionId }, world.later(1000));
    expect(world.takeEvents()).toEqual([
      { type: "promotion.started", id: promotionId, previous: { status: "paused" } },
    ]);
    expect(await promotionRow(world, promotionId)).toMatchObject({
      status: "active",
      version: 4,
      startedAt: startsAt,
    });
  });

  it.each([
    ["taken away", null],
    ["moved into the past", startOfWorld],
  ])("publishes two events with one version if an update makes the start %s", async (_name, startsAt) => {
    const later = new Date(startOfWorld.getTime() + 1000);
    const promotionId = await makePromotion(world, { startsAt: later });
    await world.run(activatePromotion, { promotionId });
    world.takeEvents();
    await world.run(updatePromotion, { promotionId, startsAt }, world.later(10));
    expect(world.takeEvents()).toEqual([
      { type: "promotion.updated", id: promotionId, previous: { startsAt: later.toISOString() } },
      { type: "promotion.started", id: promotionId, previous: {} },
    ]);
    expect(await promotionRow(world, promotionId)).toMatchObject({
      version: 3,
      startedAt: new Date(startOfWorld.getTime() + 10),
    });
    await world.run(updatePromotion, { promotionId, priority: 5 }, world.later(20));
    expect(world.takeEvents()).toEqual([
      { type: "promotion.updated", id: promotionId, previous: { priority: 0 } },
    ]);
  });

  it("does not start a draft or paused promotion by an update", async () => {
    for (const status of ["draft", "paused"] as const) {
      const promotionId = await promotionIn(status);
      await world.run(updatePromotion, { promotionId, startsAt: startOfWorld });
      expect(world.takeEvents().map(({ type }) => type)).toEqual(["promotion.updated"]);
    }
  });
});
