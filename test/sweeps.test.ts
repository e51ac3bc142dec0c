/** Sweeps write state changes that are due by time, once each, and publish them. */
import { expect, it } from "vitest";
import { createLog } from "#foundation/log.ts";
import { startPeriodicCleanupSweeps, sweeps } from "#app/sweeps.ts";
import { createId } from "#foundation/ids.ts";
import { createGraphqlContext } from "#graph/context.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { sessionRow } from "#test/support/session-row.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { fanOutEventsToWebhookDeliveries } from "#webhooks/dispatch/fan-out.ts";

const dayMs = 86_400_000;
const patience = { timeout: 30_000, interval: 5 };

type Render = World["app"]["services"]["render"];

/** Runs the sweeps as a process does; the rendering of events can be intercepted. */
const run = async (
  world: World,
  name: string,
  { render, signal = new AbortController().signal }: { render?: Render; signal?: AbortSignal } = {},
) => {
  const sweep = sweeps.find((candidate) => candidate.name === name);
  if (sweep === undefined) throw new Error(`There is no sweep "${name}".`);
  const { services } = world.app;
  return sweep.run(render === undefined ? services : { ...services, render }, {
    now: world.clock.now(),
    signal,
  });
};

const eventsOf = async (world: World, subjectId: string): Promise<string[]> => {
  const rows = await world.database.db
    .selectFrom("event")
    .select("type")
    .where("subjectId", "=", subjectId)
    .orderBy("subjectVersion")
    .execute();
  return rows.map(({ type }) => type);
};

/** The events of one save are sorted by type, because their ids have the same time. */
const versionsOf = (world: World, subjectId: string): Promise<{ type: string; subjectVersion: number }[]> =>
  world.database.db
    .selectFrom("event")
    .select(["type", "subjectVersion"])
    .where("subjectId", "=", subjectId)
    .orderBy("subjectVersion")
    .orderBy("type")
    .execute();

/** Creates empty carts, changed one millisecond after the other, in the order of their expiry. */
async function makeManyCarts(world: World, count: number): Promise<string[]> {
  const first = await makeCart(world);
  const { db } = world.database;
  const copied = await db.selectFrom("cart").selectAll().where("id", "=", first).executeTakeFirstOrThrow();
  const { deliveryOptions: _, warnings: __, shippingTaxes: ___, ...values } = copied;
  const rows = Array.from({ length: count }, (____, index) =>
    Object.assign({}, values, {
      id: createId("cart"),
      expiresAt: new Date(values.expiresAt.getTime() + index),
    }),
  );
  await db.insertInto("cart").values(rows).execute();
  await db.updateTable("cart").set({ status: "expired", version: 2 }).where("id", "=", first).execute();
  return rows.map(({ id }) => id);
}

async function lockBySession(
  world: World,
  cartId: string,
  session: { status: "open" | "processing"; lifeMs: number },
): Promise<void> {
  const { db } = world.database;
  const now = world.clock.now();
  const cart = await db
    .selectFrom("cart")
    .select(["merchantId", "country", "currency", "locale"])
    .where("id", "=", cartId)
    .executeTakeFirstOrThrow();
  const expiresAt = new Date(now.getTime() + session.lifeMs);
  await db
    .insertInto("hostedCheckoutSession")
    .values({
      id: createId("checkoutSession"),
      merchantId: cart.merchantId,
      cartId,
      status: session.status,
      expiresAt,
      createdAt: now,
      updatedAt: now,
      submittedAt: session.status === "processing" ? now : null,
      ...sessionRow(cart),
    })
    .execute();
  await db.updateTable("cart").set({ status: "locked", version: 2 }).where("id", "=", cartId).execute();
}

const makeCart = async (world: World): Promise<string> => {
  const { body } = await world.graphql(`mutation { cartCreate(input: { market: "DE" }) { id } }`, {
    token: "storefront",
  });
  return body.data.cartCreate.id;
};

describeOnPostgres("the sweeps", (_open, engine) => {
  it("write a cart's expiry after 30 days, erase its address a day later, and delete its keys", async () => {
    await using world = await createWorld(engine);
    const { db } = world.database;
    const cartId = await makeCart(world);
    const key = { authorization: `Bearer ${world.demo.keys.full}`, "idempotency-key": "once" };
    const address = {
      recipientName: "Anna Beispiel",
      line1: "Musterweg 1",
      postalCode: "10115",
      city: "Berlin",
      countryCode: "DE",
    };
    const set = await world.send({
      method: "PUT",
      url: `/api/v1/open/storefront/carts/${cartId}/address`,
      headers: key,
      body: { address },
    });
    expect(set.status).toBe(200);

    const read = async () => (await world.getWithKey(`/api/v1/open/storefront/carts/${cartId}`)).body.data;
    world.clock.advance(30 * dayMs - 1);
    await run(world, "expire carts");
    expect(await read()).toMatchObject({ status: "active", version: 2 });
    world.clock.advance(1);
    expect(await read()).toMatchObject({ status: "expired", version: 2 });
    expect(await run(world, "expire carts")).toBeGreaterThan(0);
    expect(await read()).toMatchObject({
      status: "expired",
      version: 3,
      address: null,
      warnings: [{ code: "address_expired" }],
    });
    expect(await run(world, "expire carts")).toBe(0);
    expect(await eventsOf(world, cartId)).toEqual(["cart.created", "cart.address_set", "cart.expired"]);

    const sealed = () =>
      db
        .selectFrom("personalData")
        .select(["sealed", "dataKey", "masked"])
        .where("cartId", "=", cartId)
        .execute();
    // The address expired long before the cart.
    await run(world, "erase personal data");
    const erased = {
      countryCode: "DE",
      regionCode: null,
      city: null,
      postalCodePrefix: null,
      recipientInitials: null,
      complete: false,
    };
    expect(await sealed()).toEqual([{ sealed: null, dataKey: null, masked: erased }]);

    expect(await run(world, "delete idempotency records")).toBeGreaterThan(0);
    expect(await db.selectFrom("idempotencyRecord").select("status").execute()).toEqual([]);
  });

  it("end a promotion whose period is over, and publish it once", async () => {
    await using world = await createWorld(engine);
    const endsAt = new Date(world.clock.now().getTime() + dayMs).toISOString();
    const input = {
      trigger: "CODE",
      kind: "PERCENTAGE",
      basisPoints: 1000,
      titles: [{ locale: "en", text: "Ten" }],
      endsAt,
    };
    const made = await world.graphql(
      `mutation ($input: PromotionCreateInput!) { promotionCreate(input: $input) { id } }`,
      { variables: { input } },
    );
    const { id } = made.body.data.promotionCreate;
    await world.graphql(`mutation { promotionActivate(input: { promotionId: "${id}" }) { status } }`);
    const status = async () =>
      (await world.graphql(`{ promotion(id: "${id}") { status version } }`)).body.data.promotion;
    await run(world, "end promotions");
    expect(await status()).toEqual({ status: "ACTIVE", version: 2 });
    world.clock.advance(dayMs);
    await run(world, "end promotions");
    await run(world, "end promotions");
    expect(await status()).toEqual({ status: "ENDED", version: 3 });
    expect(await eventsOf(world, id)).toEqual(["promotion.started", "promotion.ended"]);
  });

  it("publish a promotion's start when it starts, not at its activation, as separate versions", async () => {
    await using world = await createWorld(engine);
    const startsAt = new Date(world.clock.now().getTime() + dayMs).toISOString();
    const input = {
      trigger: "CODE",
      kind: "PERCENTAGE",
      basisPoints: 1000,
      titles: [{ locale: "en", text: "Ten" }],
      startsAt,
    };
    const made = await world.graphql(
      `mutation ($input: PromotionCreateInput!) { promotionCreate(input: $input) { id } }`,
      { variables: { input } },
    );
    const { id } = made.body.data.promotionCreate;
    await world.graphql(`mutation { promotionActivate(input: { promotionId: "${id}" }) { status } }`);
    world.clock.advance(dayMs - 1);
    expect(await run(world, "start promotions")).toBe(0);
    world.clock.advance(1);
    expect([await run(world, "start promotions"), await run(world, "start promotions")]).toEqual([1, 0]);
    expect(await versionsOf(world, id)).toEqual([
      { type: "promotion.updated", subjectVersion: 2 },
      { type: "promotion.started", subjectVersion: 3 },
    ]);
    expect(
      (await world.graphql(`{ promotion(id: "${id}") { status version } }`)).body.data.promotion,
    ).toEqual({ status: "ACTIVE", version: 3 });
  });

  it("write all due carts, and skip failing ones, which are tried again by the next sweep", async () => {
    await using world = await createWorld(engine);
    const { db } = world.database;
    const ids = await makeManyCarts(world, 205);
    world.clock.advance(31 * dayMs);
    // A whole batch fails, and one cart behind it.
    const broken = new Set([...ids.slice(0, 100), ids[150]]);
    const render: Render = (transaction, subject) =>
      broken.has(subject.id)
        ? Promise.reject(new Error("No."))
        : world.app.services.render(transaction, subject);
    const failure: unknown = await run(world, "expire carts", { render }).then(
      undefined,
      (error: unknown) => error,
    );
    if (!(failure instanceof AggregateError)) throw new Error("Nothing failed.");
    expect(failure.message).toMatch(/^101 rows failed, \d+ rows were handled\.$/);
    expect(failure.errors).toHaveLength(20);
    expect(failure.errors[0]).toMatchObject({
      message: `${ids[0]} was skipped.`,
      cause: { message: "No." },
    });
    const active = () =>
      db
        .selectFrom("cart")
        .select("id")
        .where("id", "in", ids)
        .where("status", "=", "active")
        .orderBy("expiresAt")
        .execute();
    expect((await active()).map(({ id }) => id)).toEqual(ids.filter((id) => broken.has(id)));
    expect(await run(world, "expire carts")).toBe(101);
    expect(await active()).toEqual([]);
  });

  it("delete carts that ended long ago with their sessions, but not those of orders or payments", async () => {
    await using world = await createWorld(engine);
    const { db } = world.database;
    const [plain = "", left = "", target = "", merged = "", holding = "", saved = ""] = await makeManyCarts(
      world,
      6,
    );
    await lockBySession(world, left, { status: "open", lifeMs: dayMs });
    await lockBySession(world, holding, { status: "open", lifeMs: dayMs });
    const completed = await db.selectFrom("cart").select("id").where("status", "=", "completed").execute();
    expect(completed.length).toBeGreaterThan(0);
    world.clock.advance(31 * dayMs);
    await run(world, "expire carts");
    const now = world.clock.now();
    await db
      .updateTable("cart")
      .set((cart) => ({
        status: "merged",
        mergedIntoCartId: target,
        endedAt: now,
        version: cart("version", "+", 1),
      }))
      .where("id", "=", merged)
      .execute();
    const { merchantId } = await db
      .selectFrom("cart")
      .select("merchantId")
      .where("id", "=", plain)
      .executeTakeFirstOrThrow();
    const { id: sessionId } = await db
      .selectFrom("hostedCheckoutSession")
      .select("id")
      .where("cartId", "=", holding)
      .executeTakeFirstOrThrow();
    const { id: variantId } = await db.selectFrom("variant").select("id").executeTakeFirstOrThrow();
    await db
      .insertInto("stockHold")
      .values({ sessionId, variantId, merchantId, quantity: 1, expiresAt: now })
      .execute();
    const data = world.app.services.keyring.seal("saved", {
      table: "personal_data",
      column: "sealed",
      rowId: "psd_1",
    });
    await db
      .insertInto("personalData")
      .values({
        id: "psd_1",
        merchantId,
        cartId: saved,
        kind: "buyer_email",
        masked: "{}",
        createdAt: now,
        ...data,
      })
      .execute();

    const stored = async (): Promise<readonly string[]> => {
      const ids = [plain, left, target, merged, holding, saved];
      const rows = await db.selectFrom("cart").select("id").where("id", "in", ids).execute();
      return ids.filter((id) => rows.some((row) => row.id === id));
    };
    world.clock.advance(699 * dayMs);
    await run(world, "delete ended carts");
    expect(await stored()).toHaveLength(6);
    world.clock.advance(33 * dayMs);
    expect(await run(world, "delete ended carts")).toBeGreaterThanOrEqual(3);
    expect(await stored()).toEqual([target, holding, saved]);
    await run(world, "delete ended carts");
    expect(await stored()).toEqual([holding, saved]);
    expect(
      await db.selectFrom("hostedCheckoutSession").select("id").where("cartId", "=", left).execute(),
    ).toEqual([]);
    expect(await db.selectFrom("cart").select("id").where("status", "=", "completed").execute()).toEqual(
      completed,
    );
  });

  it("stop before the next row when a signal aborts them", async () => {
    await using world = await createWorld(engine);
    const ids = await makeManyCarts(world, 3);
    await world.database.db
      .updateTable("cart")
      .set((cart) => ({ status: "expired", version: cart("version", "+", 1) }))
      .where("id", "not in", ids)
      .where("status", "in", ["active", "locked"])
      .execute();
    world.clock.advance(31 * dayMs);
    const stop = new AbortController();
    const render: Render = (transaction, subject) => {
      stop.abort();
      return world.app.services.render(transaction, subject);
    };
    expect(await run(world, "expire carts", { render, signal: stop.signal })).toBe(1);
    expect(await run(world, "expire carts")).toBe(2);
  });

  it("write the expiry of a cart locked by an expired session, after the session's expiry", async () => {
    await using world = await createWorld(engine);
    const { db } = world.database;
    const [ranOut = "", live = "", paying = ""] = await makeManyCarts(world, 3);
    await lockBySession(world, ranOut, { status: "open", lifeMs: dayMs });
    await lockBySession(world, live, { status: "open", lifeMs: 40 * dayMs });
    await lockBySession(world, paying, { status: "processing", lifeMs: dayMs });
    world.clock.advance(31 * dayMs);
    await run(world, "expire carts");
    const stored = (id: string) =>
      db
        .selectFrom("cart as c")
        .innerJoin("hostedCheckoutSession as s", "s.cartId", "c.id")
        .select(["c.status", "c.version", "s.status as session"])
        .where("c.id", "=", id)
        .executeTakeFirst();
    expect(await stored(ranOut)).toEqual({ status: "expired", version: 3, session: "expired" });
    expect(await versionsOf(world, ranOut)).toEqual([
      { type: "cart.expired", subjectVersion: 3 },
      { type: "cart.unlocked", subjectVersion: 3 },
    ]);
    expect(await stored(live)).toEqual({ status: "locked", version: 2, session: "open" });
    expect(await stored(paying)).toEqual({ status: "locked", version: 2, session: "processing" });
  });
});

it("a failing sweep is logged, and the others run all the same", async () => {
  await using world = await createWorld();
  const lines: string[] = [];
  const log = createLog("info", { write: (line: string) => void lines.push(line) });
  const { services } = world.app;
  const cartId = await makeCart(world);
  expect(await eventsOf(world, cartId)).toEqual(["cart.created"]);
  // Only events with a position in the event feed are deleted.
  while ((await fanOutEventsToWebhookDeliveries(world.database.db, world.clock.now())).events > 0);
  world.clock.advance(31 * dayMs);
  // Only the rendering of events fails. The sweep that deletes old events comes later and needs no rendering.
  const stop = startPeriodicCleanupSweeps(
    { ...services, render: () => Promise.reject(new Error("No.")) },
    log,
    5,
  );
  const isLogged = (): boolean =>
    lines.some(
      (line) =>
        line.includes(`${cartId} was skipped.`) && line.includes("expire carts") && line.includes("No."),
    );
  await expect.poll(isLogged, patience).toBe(true);
  await expect.poll(() => eventsOf(world, cartId), patience).toEqual([]);
  await stop();
  const context = createGraphqlContext(services, { requestId: "" });
  expect((await context.loaders.carts.load(cartId))?.status).toBe("active");
});
