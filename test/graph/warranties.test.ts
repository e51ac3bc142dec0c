/**
 * Warranties: registered once for a delivered line, valid from the delivery, and claimed one at a time while
 * the allowance lasts.
 */
import { describe, expect, it } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { insertOrder, readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import { lineOf } from "./order-money-calls.ts";
import { asBuyer, call, done, invalid, makeDelivered, refused, partEventTypes } from "./return-calls.ts";

const mill = "KIT-KVERN";
const dayMs = 86_400_000;

describe("a warranty", () => {
  const world = useWorld();

  const register = (order: OrderAggregate, input: object = {}): ReturnType<typeof done> =>
    done(world(), "warrantyRegister", {
      ...asBuyer,
      id: order.id,
      input: { lineId: lineOf(order, mill).id, ...input },
    });
  const claim = (id: string, kind = "REPAIR"): ReturnType<typeof done> => {
    // Claims are ordered by their creation time.
    world().clock.advance(1);
    return done(world(), "warrantyClaimOpen", {
      ...asBuyer,
      id,
      input: { kind, description: "The crank turns no more." },
    });
  };
  const resolve = (id: string, outcome = "ACCEPTED"): ReturnType<typeof done> =>
    done(world(), "warrantyClaimResolve", { id, input: { outcome, resolution: "A new crank." } });
  const refusedClaim = (id: string, kind = "REPAIR"): ReturnType<typeof refused> =>
    refused(world(), "warrantyClaimOpen", { ...asBuyer, id, input: { kind, description: "It broke." } });

  it("begins with the delivery, ends with a local day, and has the allowances of the order", async () => {
    const deliveredAt = new Date("2026-01-31T23:30:00.000Z");
    const order = await makeDelivered(world(), {
      deliveredAt,
      policies: { warranty: { months: 1, repairs: 3, replacements: 0 } },
    });
    expect(await register(order, { serialNumber: "SN-1" })).toEqual({
      id: expect.stringMatching(/^wty_/),
      orderId: order.id,
      lineId: lineOf(order, mill).id,
      serialNumber: "SN-1",
      status: "ACTIVE",
      startsAt: "2026-01-31T23:30:00.000Z",
      // The delivery was on February 1 in Berlin, so March 1 is the warranty's last day.
      endsAt: "2026-03-01T22:59:59.999Z",
      repairsLeft: 3,
      replacementsLeft: 0,
      version: 1,
      claims: [],
    });
    expect((await readOrder(world(), order.id)).version).toBe(2);
    expect(await partEventTypes(world(), order)).toEqual(["warranty.registered"]);
  });

  it("is registered once for a delivered line of an order with a warranty", async () => {
    const order = await makeDelivered(world());
    const { id } = await register(order);
    const { error } = await call(world(), "warrantyRegister", {
      id: order.id,
      input: { lineId: lineOf(order, mill).id },
    });
    expect(error).toMatchObject({
      code: "already_exists",
      conflict: { resource: "order", data: { warrantyId: id } },
    });
    const input = (of: OrderAggregate): object => ({ id: of.id, input: { lineId: lineOf(of, mill).id } });
    const none = await makeDelivered(world(), { policies: { warranty: { months: 0 } } });
    const unsent = await insertOrder(world());
    expect(await refused(world(), "warrantyRegister", input(none) as never)).toMatchObject({
      code: "invalid_state",
      reason: "warranty_not_offered",
    });
    expect(await refused(world(), "warrantyRegister", input(unsent) as never)).toMatchObject({
      code: "invalid_state",
      reason: "not_delivered_yet",
    });
    expect(await refused(world(), "warrantyRegister", { id: order.id, input: { lineId: "oln_x" } })).toEqual({
      code: "resource_not_found",
      reason: null,
      fields: ["/lineId unknown"],
    });
    expect(
      await refused(world(), "warrantyRegister", {
        id: unsent.id,
        input: { lineId: lineOf(unsent, mill).id, serialNumber: "" },
      }),
    ).toEqual(invalid("/serialNumber too_short"));
    expect(
      await refused(world(), "warrantyRegister", {
        ...input(none),
        token: "storefront",
        buyer: "other",
      } as never),
    ).toMatchObject({
      code: "order_not_found",
    });
  });

  it("is claimed one at a time; only approved claims use the allowance", async () => {
    const order = await makeDelivered(world(), {
      policies: { warranty: { months: 24, repairs: 1, replacements: 1 } },
    });
    const { id } = await register(order);
    const opened = await claim(id);
    expect(opened).toMatchObject({
      version: 2,
      repairsLeft: 1,
      claims: [{ kind: "REPAIR", status: "OPEN", resolution: null }],
    });
    const claimId: string = opened.claims[0].id;
    expect(await refusedClaim(id, "REPLACEMENT")).toMatchObject({
      code: "invalid_state",
      reason: "claim_open",
    });
    expect(await resolve(claimId, "REJECTED")).toMatchObject({
      version: 3,
      repairsLeft: 1,
      claims: [{ status: "REJECTED", resolution: "A new crank." }],
    });
    expect(
      await refused(world(), "warrantyClaimResolve", {
        id: claimId,
        input: { outcome: "ACCEPTED", resolution: "x" },
      }),
    ).toMatchObject({
      code: "invalid_state",
      reason: "claim_resolved",
    });
    const again = await claim(id);
    expect(await resolve(again.claims[1].id)).toMatchObject({ repairsLeft: 0, replacementsLeft: 1 });
    expect(await refusedClaim(id)).toMatchObject({ code: "invalid_state", reason: "benefit_exhausted" });
    expect(await claim(id, "REPLACEMENT")).toMatchObject({
      claims: [{}, {}, { kind: "REPLACEMENT", status: "OPEN" }],
    });
    expect(await partEventTypes(world(), order)).toEqual([
      "warranty.claim_opened",
      "warranty.claim_opened",
      "warranty.claim_opened",
      "warranty.claim_resolved",
      "warranty.claim_resolved",
      "warranty.registered",
    ]);
  });

  it("counts an approved claim once, even with a return for it; other returns count as well", async () => {
    const order = await makeDelivered(world(), {
      lines: { [mill]: 3 },
      policies: { warranty: { months: 24, repairs: 3, replacements: 0 } },
    });
    const { id } = await register(order);
    const opened = await claim(id);
    expect(await resolve(opened.claims[0].id)).toMatchObject({ repairsLeft: 2 });
    const { id: lineId } = lineOf(order, mill);
    const repair = async (quantity: number): Promise<unknown> => {
      const input = { kind: "REPAIR", reason: "DEFECTIVE", lines: [{ lineId, quantity }] };
      const { id: returnId } = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
      await done(world(), "returnTrack", { id: returnId });
      await done(world(), "returnReceive", {
        id: returnId,
        input: { lines: [{ lineId, received: quantity }] },
      });
      await done(world(), "returnInspect", {
        id: returnId,
        input: { lines: [{ lineId, accepted: quantity, restock: 0 }] },
      });
      await done(world(), "returnClose", { id: returnId });
      return (await readOrder(world(), order.id)).warranties[0]?.repairsLeft;
    };
    expect(await repair(1)).toBe(2);
    expect(await repair(1)).toBe(1);
    const again = await claim(id);
    expect(await resolve(again.claims[1].id)).toMatchObject({ repairsLeft: 0 });
    expect(await repair(2)).toBe(0);
  });

  it("is claimed until its last millisecond, by its own buyer only", async () => {
    const order = await makeDelivered(world(), {
      policies: { warranty: { months: 1, repairs: 1, replacements: 0 } },
    });
    const { id, endsAt } = await register(order);
    const foreign = {
      token: "storefront",
      buyer: "other",
      id,
      input: { kind: "REPAIR", description: "x" },
    } as const;
    expect(await refused(world(), "warrantyClaimOpen", foreign)).toMatchObject({
      code: "resource_not_found",
    });
    expect(
      await refused(world(), "warrantyClaimOpen", {
        ...asBuyer,
        id,
        input: { kind: "REPAIR", description: "x".repeat(1001) },
      }),
    ).toEqual(invalid("/description too_long"));
    expect(
      await refused(world(), "warrantyClaimOpen", {
        ...asBuyer,
        id,
        input: { kind: "REPAIR", description: "x", expectedVersion: 7 },
      }),
    ).toMatchObject({
      code: "version_conflict",
    });
    expect(
      await refused(world(), "warrantyClaimResolve", {
        id: "wcl_x",
        input: { outcome: "ACCEPTED", resolution: "x" },
      }),
    ).toMatchObject({
      code: "resource_not_found",
    });
    const before = world().clock.now();
    world().clock.advance(Date.parse(endsAt) + 1 - before.getTime());
    expect(await refusedClaim(id)).toMatchObject({ code: "invalid_state", reason: "warranty_expired" });
    world().clock.advance(-2);
    expect(await claim(id)).toMatchObject({ claims: [{ status: "OPEN" }] });
    world().clock.advance(before.getTime() - Date.parse(endsAt));
  });

  it("is void once all of its units are returned", async () => {
    const order = await makeDelivered(world(), {
      deliveredAt: new Date(world().clock.now().getTime() - dayMs),
    });
    const { id } = await register(order);
    const { id: lineId } = lineOf(order, mill);
    const input = { kind: "RETURN_REFUND", reason: "UNWANTED", lines: [{ lineId, quantity: 1 }] };
    const requested = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
    await done(world(), "returnTrack", { id: requested.id });
    await done(world(), "returnReceive", { id: requested.id, input: { lines: [{ lineId, received: 1 }] } });
    await done(world(), "returnInspect", {
      id: requested.id,
      input: { lines: [{ lineId, accepted: 1, restock: 0 }] },
    });
    await done(world(), "returnClose", { id: requested.id });
    expect((await readOrder(world(), order.id)).warranties).toMatchObject([
      { id, status: "void", version: 2 },
    ]);
    expect(await refusedClaim(id)).toMatchObject({ code: "invalid_state", reason: "warranty_void" });
  });
});
