/**
 * Promotions start and end on time. A sweep rechecks each promotion in its transaction before starting or
 * ending it.
 */
import { beforeAll, expect, it } from "vitest";
import {
  activatePromotion,
  endDuePromotions,
  endPromotion,
  pausePromotion,
  startDuePromotions,
} from "#commerce/promotions/promotion-status.ts";
import { updatePromotion } from "#commerce/promotions/change-promotion.ts";
import type { Transaction } from "#database/transaction.ts";
import { createWorld, startOfWorld, type World } from "#test/commerce/writes-world.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import type { EventSubjectRenderer } from "#webhooks/outbox.ts";
import { makePromotion, promotionRow } from "./promotions-world.ts";

const at = (milliseconds: number): Date => new Date(startOfWorld.getTime() + milliseconds);

describeOnBoth("due promotions", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const activated = async (window: { readonly startsAt?: Date; readonly endsAt?: Date }): Promise<string> => {
    const promotionId = await makePromotion(world, { trigger: "code", ...window });
    await world.run(activatePromotion, { promotionId });
    return promotionId;
  };
  const render: EventSubjectRenderer = async (transaction, { id }) => ({
    ...(await transaction
      .selectFrom("promotion")
      .select(["id", "version"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow()),
  });
  /** Lets the merchant change the second promotion before the sweep commits the first. */
  const meanwhile = (
    act: (transaction: Transaction, id: string) => Promise<unknown>,
    ids: readonly string[],
  ): EventSubjectRenderer => {
    const done = new Set<string>();
    return async (transaction, { id }) => {
      const other = ids.find((candidate) => candidate !== id && !done.has(candidate));
      if (done.size === 0 && other !== undefined) await act(transaction, other);
      done.add(id);
      return { id, version: 1 };
    };
  };
  const sweptEvents = (id: string) =>
    world.db
      .selectFrom("event")
      .select(["type", "subjectVersion"])
      .where("subjectId", "=", id)
      .orderBy("id")
      .execute();

  it("a promotion that was prolonged after the sweep found it does not end", async () => {
    const ids = [await activated({ endsAt: at(10) }), await activated({ endsAt: at(10) })].toSorted();
    const [first = "", second = ""] = ids;
    const prolong = (transaction: Transaction, id: string) =>
      transaction
        .updateTable("promotion")
        .set({ endsAt: at(1000), version: 3 })
        .where("id", "=", id)
        .execute();
    expect(await endDuePromotions({ db: world.db, now: at(10), render: meanwhile(prolong, ids) })).toBe(1);
    expect([await promotionRow(world, first), await promotionRow(world, second)]).toMatchObject([
      { status: "ended", version: 3 },
      { status: "active", version: 3, endsAt: at(1000) },
    ]);
    expect([await sweptEvents(first), await sweptEvents(second)]).toEqual([
      [{ type: "promotion.ended", subjectVersion: 1 }],
      [],
    ]);
  });

  it("a promotion that was paused after the sweep found it does not start", async () => {
    const ids = [await activated({ startsAt: at(10) }), await activated({ startsAt: at(10) })].toSorted();
    const [, second = ""] = ids;
    const pause = (transaction: Transaction, id: string) =>
      transaction
        .updateTable("promotion")
        .set({ status: "paused", version: 3 })
        .where("id", "=", id)
        .execute();
    expect(await startDuePromotions({ db: world.db, now: at(10), render: meanwhile(pause, ids) })).toBe(1);
    expect(await promotionRow(world, second)).toMatchObject({
      status: "paused",
      version: 3,
      startedAt: null,
    });
    expect(await sweptEvents(second)).toEqual([]);
  });

  it("a sweep ends more than one batch, paused promotions too", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 101; count += 1) ids.push(await activated({ endsAt: at(20) }));
    await world.run(pausePromotion, { promotionId: ids[0] ?? "" });
    expect(await endDuePromotions({ db: world.db, now: at(20), render })).toBe(101);
    expect(await endDuePromotions({ db: world.db, now: at(20), render })).toBe(0);
  });

  it("drafts, ended promotions, and promotions after their period are not published as started", async () => {
    const startsAt = at(30);
    const draft = await makePromotion(world, { startsAt });
    const over = await activated({ startsAt, endsAt: at(40) });
    const ended = await activated({ startsAt });
    await world.run(endPromotion, { promotionId: ended });
    expect(await startDuePromotions({ db: world.db, now: at(40), render })).toBe(0);
    for (const id of [draft, over, ended]) expect(await sweptEvents(id)).toEqual([]);
    await endDuePromotions({ db: world.db, now: at(40), render });
  });

  it("a promotion whose start is postponed after it started starts once more", async () => {
    const promotionId = await activated({});
    await world.run(updatePromotion, { promotionId, startsAt: at(60) }, world.later(50));
    expect(await promotionRow(world, promotionId)).toMatchObject({ startedAt: null, version: 3 });
    expect(await startDuePromotions({ db: world.db, now: at(60), render })).toBe(1);
    expect(await promotionRow(world, promotionId)).toMatchObject({
      startedAt: at(60),
      updatedAt: at(60),
      version: 4,
    });
    expect(await sweptEvents(promotionId)).toEqual([{ type: "promotion.started", subjectVersion: 4 }]);
  });
});
