/** What comes due by the clock is written by the sweeps, once, and told of. */
import { expect, it } from "vitest";
import { createLog } from "#foundation/log.ts";
import { startSweeps, sweeps } from "#app/sweeps.ts";
import { createContext } from "#graph/context.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { createWorld, type World } from "#test/support/world.ts";

const dayMs = 86_400_000;

const run = async (world: World, name: string): Promise<unknown> => {
  const sweep = sweeps.find((candidate) => candidate.name === name);
  if (sweep === undefined) throw new Error(`There is no sweep "${name}".`);
  return sweep.run(world.app.services, world.clock.now());
};

const eventsOf = async (world: World, subjectId: string): Promise<string[]> => {
  const rows = await world.database.db.selectFrom("event").select("type").where("subjectId", "=", subjectId).orderBy("subjectVersion").execute();
  return rows.map(({ type }) => type);
};

const makeCart = async (world: World): Promise<string> => {
  const { body } = await world.graphql(`mutation { cartCreate(input: { market: "DE" }) { id } }`, { token: "storefront" });
  return body.data.cartCreate.id;
};

describeOnBoth("the sweeps", (_open, engine) => {
  it("write the expiry of a cart nobody changed for 30 days, erase its address a day later, and forget the idempotency keys", async () => {
    await using world = await createWorld(engine);
    const { db } = world.database;
    const cartId = await makeCart(world);
    const key = { authorization: `Bearer ${world.demo.keys.full}`, "idempotency-key": "once" };
    const address = { recipientName: "Anna Beispiel", line1: "Musterweg 1", postalCode: "10115", city: "Berlin", countryCode: "DE" };
    const set = await world.send({ method: "PUT", url: `/api/v1/open/storefront/carts/${cartId}/address`, headers: key, body: { address } });
    expect(set.status).toBe(200);

    const read = async () => (await world.getWithKey(`/api/v1/open/storefront/carts/${cartId}`)).body.data;
    world.clock.advance(30 * dayMs - 1);
    await run(world, "expire carts");
    expect(await read()).toMatchObject({ status: "active", version: 2 });
    world.clock.advance(1);
    expect(await read()).toMatchObject({ status: "expired", version: 2 });
    expect(await run(world, "expire carts")).toBeGreaterThan(0);
    expect(await read()).toMatchObject({ status: "expired", version: 3, address: null, warnings: [] });
    expect(await run(world, "expire carts")).toBe(0);
    expect(await eventsOf(world, cartId)).toEqual(["cart.created", "cart.address_set", "cart.expired"]);

    const sealed = () => db.selectFrom("personalData").select(["sealed", "dataKey", "masked"]).where("cartId", "=", cartId).execute();
    // Its life was over long before the cart's.
    await run(world, "erase personal data");
    const erased = { countryCode: "DE", regionCode: null, city: null, postalCodePrefix: null, recipientInitials: null, complete: false };
    expect(await sealed()).toEqual([{ sealed: null, dataKey: null, masked: erased }]);

    expect(await run(world, "delete idempotency records")).toBeGreaterThan(0);
    expect(await db.selectFrom("idempotencyRecord").select("status").execute()).toEqual([]);
  });

  it("end a promotion whose window is over, and tell it once", async () => {
    await using world = await createWorld(engine);
    const endsAt = new Date(world.clock.now().getTime() + dayMs).toISOString();
    const input = { trigger: "CODE", kind: "PERCENTAGE", basisPoints: 1000, titles: [{ locale: "en", text: "Ten" }], endsAt };
    const made = await world.graphql(`mutation ($input: PromotionCreateInput!) { promotionCreate(input: $input) { id } }`, { variables: { input } });
    const { id } = made.body.data.promotionCreate;
    await world.graphql(`mutation { promotionActivate(input: { promotionId: "${id}" }) { status } }`);
    const status = async () => (await world.graphql(`{ promotion(id: "${id}") { status version } }`)).body.data.promotion;
    await run(world, "end promotions");
    expect(await status()).toEqual({ status: "ACTIVE", version: 2 });
    world.clock.advance(dayMs);
    await run(world, "end promotions");
    await run(world, "end promotions");
    expect(await status()).toEqual({ status: "ENDED", version: 3 });
    expect(await eventsOf(world, id)).toEqual(["promotion.started", "promotion.ended"]);
  });
});

it("a sweep that fails is logged, and the others run all the same", async () => {
  await using world = await createWorld("pglite");
  const lines: string[] = [];
  const log = createLog("info", { write: (line: string) => void lines.push(line) });
  const { services } = world.app;
  const cartId = await makeCart(world);
  world.clock.advance(31 * dayMs);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  // The first sweep and the last one go through db; the render of an event is what fails.
  const stop = startSweeps({ ...services, render: () => Promise.reject(new Error("No.")) }, log, 5);
  const timer = setInterval(() => {
    if (lines.some((line) => line.includes("expire carts"))) resolve(undefined);
  }, 5);
  await promise;
  clearInterval(timer);
  await stop();
  expect(await eventsOf(world, cartId)).toEqual(["cart.created"]);
  const context = createContext(services, { requestId: "" });
  expect((await context.loaders.carts.load(cartId))?.status).toBe("active");
});
