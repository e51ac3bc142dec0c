/**
 * Checkout sessions: a session locks its cart, holds its stock and ends by time. Two sessions never share a
 * cart or a unit of stock.
 */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import {
  askGraph,
  type GraphAnswer,
  berlin,
  callCart,
  cartConflict,
  changeCart,
  eur,
  eventsOf,
  makeCart,
  makeForeignCart,
  readCart,
  variantOf,
  withoutTrace,
} from "#test/operations/cart-calls.ts";
import {
  holdsOf,
  makeReadySession,
  makeSession,
  readSession,
  returnUrls,
  stockOf,
  sweepSessions,
  trySession,
} from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";

const minuteMs = 60_000;

describe.each(["pglite", "postgres"] as const)("checkout sessions on %s", (engine) => {
  const world = useWorld(engine);
  const cart = async (lines: Readonly<Record<string, number>> = { "KIT-KVERN": 1 }): Promise<string> =>
    (await makeCart(world(), { lines })).id;
  const setStock = async (sku: string, onHand: number): Promise<void> => {
    const variantId = await variantOf(world(), sku);
    await sql`update stock_level set on_hand = ${onHand}, backorder_limit = 0
      where variant_id = ${variantId}`.execute(world().database.db);
  };
  const refusal = async (call: () => Promise<GraphAnswer>): Promise<unknown> => {
    const { error } = await withoutTrace(world(), call);
    return { code: error?.code, conflict: error?.conflict };
  };

  describe("are opened", () => {
    it("with current prices, a locked cart and held stock, for an hour", async () => {
      const cartId = await cart({ "KIT-KVERN": 2 });
      const before = await stockOf(world(), "KIT-KVERN");
      const now = world().clock.now().getTime();
      const { data } = await trySession(world(), { cartId });
      expect(data).toMatchObject({
        version: 1,
        status: "OPEN",
        cartId,
        cartVersion: 2,
        cartStatus: "LOCKED",
        amountTotal: eur(16980),
        paymentStatus: "UNPAID",
        expiresAt: new Date(now + 60 * minuteMs).toISOString(),
        ...returnUrls,
        cancellation: null,
        cart: { id: cartId, version: 2, status: "LOCKED" },
      });
      expect(await stockOf(world(), "KIT-KVERN")).toEqual({ ...before, reserved: before.reserved + 2 });
      expect(await holdsOf(world(), "KIT-KVERN")).toContainEqual({
        sessionId: data.id,
        quantity: 2,
        expiresAt: new Date(now + 60 * minuteMs),
      });
      expect((await callCart(world(), "getPublicCart", { cartId })).body.data.checkout).toEqual({
        sessionId: data.id,
        status: "open",
      });
    });

    it.each([30, 1440])("for %d minutes on request", async (lifetimeMinutes) => {
      const { expiresAt, createdAt } = await makeSession(world(), { input: { lifetimeMinutes } });
      expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(lifetimeMinutes * minuteMs);
    });

    it("with an event that contains the locked cart", async () => {
      const { id, cartId } = await makeSession(world());
      const [created] = await eventsOf(world(), id);
      expect(created).toMatchObject({ type: "checkout_session.created", version: 1 });
      expect(created?.snapshot.data).toMatchObject({
        object: { id, status: "open", url: null, cartStatus: "locked" },
        previous: null,
      });
      const locked = (await eventsOf(world(), cartId)).find(({ type }) => type === "cart.locked");
      expect(locked?.snapshot.data.object).toEqual(
        (await callCart(world(), "getPublicCart", { cartId })).body.data,
      );
      expect(locked?.snapshot.data.previous).toEqual({ version: 1, status: "active", checkout: null });
    });

    it("with the address of an address token, and keep the address until they end", async () => {
      const cartId = await cart();
      const set = await changeCart(world(), "cartAddressSet", { cartId, input: { address: berlin } });
      const input = { addressToken: set.data.addressToken, lifetimeMinutes: 1440 };
      const { id } = await makeSession(world(), { cartId, input });
      world().clock.advance(23 * 60 * minuteMs);
      expect((await readSession(world(), id)).data.cart.address).toMatchObject({ city: "Berlin" });
      const { rows } = await sql<{
        kept: boolean;
      }>`select erase_after >= s.expires_at + interval '24 hours' as kept
        from personal_data p join hosted_checkout_session s on s.cart_id = p.cart_id
        where s.id = ${id}`.execute(world().database.db);
      expect(rows).toEqual([{ kept: true }]);
    });

    it("once for an idempotency key, with the same page", async () => {
      const cartId = await cart();
      const query = `mutation ($input: HostedCheckoutSessionCreateInput!) {
        hostedCheckoutSessionCreate(idempotencyKey: "open-${engine}", input: $input) { id url } }`;
      const ask = () => askGraph(world(), query, { input: { cartId, ...returnUrls } });
      const [first, second] = [await ask(), await ask()];
      expect(second.data).toEqual(first.data);
    });
  });

  describe("have a page URL", () => {
    it("that only the token that created them sees, while they are open", async () => {
      const { id, url } = await makeSession(world());
      expect(url).toMatch(/^https:\/\/api\.test\/checkout\/[\w-]{43}$/);
      const urlFor = async (token: "storefront" | "admin" | "operator" | "analyst") =>
        (await readSession(world(), id, { token })).data.url;
      expect([
        await urlFor("storefront"),
        await urlFor("admin"),
        await urlFor("operator"),
        await urlFor("analyst"),
      ]).toEqual([url, null, null, null]);
      world().clock.advance(60 * minuteMs);
      expect(await urlFor("storefront")).toBeNull();
      await sweepSessions(world());
      const row = await world()
        .database.db.selectFrom("hostedCheckoutSession")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      expect([row.urlSealed, row.urlDataKey, row.urlKeyId]).toEqual([null, null, null]);
    });

    it("whose secret is not in the database", async () => {
      const { url } = await makeSession(world());
      const secret = url.split("/").at(-1);
      const { rows } = await sql<{ found: boolean }>`select exists (
        select from hosted_checkout_session s where s::text like ${`%${secret}%`}
        or position(${secret}::text in encode(s.url_sealed, 'escape')) > 0
        union all select from event e where e.snapshot like ${`%${secret}%`}) as found`.execute(
        world().database.db,
      );
      expect(rows).toEqual([{ found: false }]);
    });
  });

  describe("are not opened", () => {
    it("for a cart with an open session, by any caller", async () => {
      const { id: sessionId, cartId } = await makeSession(world());
      const conflict = cartConflict({
        code: "cart_locked",
        id: cartId,
        status: "locked",
        version: 2,
        data: { sessionId },
      });
      for (const token of ["storefront", "admin"] as const)
        expect(await refusal(() => trySession(world(), { cartId, token }))).toEqual({
          code: "cart_locked",
          conflict,
        });
    });

    it("for a cart that is empty, ended, unknown or of another version", async () => {
      const empty = await cart({});
      expect(await refusal(() => trySession(world(), { cartId: empty }))).toMatchObject({
        code: "cart_empty",
      });
      const cartId = await cart();
      expect(
        await refusal(() => trySession(world(), { cartId, input: { expectedVersion: 2 } })),
      ).toMatchObject({ code: "cart_version_conflict" });
      await changeCart(world(), "cartRevoke", { cartId, input: { expectedVersion: 1 } });
      expect(
        await refusal(() => trySession(world(), { cartId, input: { expectedVersion: 9 } })),
      ).toMatchObject({ code: "cart_revoked" });
      for (const id of ["cart_00000000000000000000000000", await makeForeignCart(world())])
        expect(await refusal(() => trySession(world(), { cartId: id }))).toMatchObject({
          code: "cart_not_found",
        });
    });

    it("for a line that is sold out or no longer sold", async () => {
      const { id: cartId, lines } = await makeCart(world(), {
        lines: { "KIT-KVERN": 1, "KIT-EMALJE-WHITE": 1 },
      });
      const variantId = await variantOf(world(), "KIT-EMALJE-WHITE");
      const discontinue = (is: boolean) =>
        sql`update variant set discontinued = ${is} where id = ${variantId}`.execute(world().database.db);
      await discontinue(true);
      const lineIds = [lines.find(({ sku }: { sku: string }) => sku === "KIT-EMALJE-WHITE").id];
      const conflict = cartConflict({
        code: "invalid_state",
        id: cartId,
        status: "active",
        version: 1,
        reason: "line_unavailable",
        data: { lineIds },
      });
      expect(await refusal(() => trySession(world(), { cartId }))).toEqual({
        code: "invalid_state",
        conflict,
      });
      await discontinue(false);
      expect((await trySession(world(), { cartId })).error).toBeUndefined();
    });

    it("for more units than are in stock: the conflict contains the available quantity", async () => {
      await setStock("KIT-EMALJE-WHITE", 100);
      const { id: cartId, lines } = await makeCart(world(), { lines: { "KIT-EMALJE-WHITE": 5 } });
      await setStock("KIT-EMALJE-WHITE", (await stockOf(world(), "KIT-EMALJE-WHITE")).reserved + 3);
      const data = { lines: [{ lineId: lines[0].id, wanted: 5, available: 3 }] };
      const conflict = cartConflict({
        code: "invalid_state",
        id: cartId,
        status: "active",
        version: 1,
        reason: "insufficient_stock",
        data,
      });
      expect(await refusal(() => trySession(world(), { cartId }))).toEqual({
        code: "invalid_state",
        conflict,
      });
      await setStock("KIT-EMALJE-WHITE", 100);
    });

    it.each([
      [
        "a token of another cart",
        { addressToken: "adt_00000000000000000000000000" },
        "/addressToken unknown",
      ],
      ["29 minutes", { lifetimeMinutes: 29 }, "/lifetimeMinutes too_small"],
      ["1441 minutes", { lifetimeMinutes: 1441 }, "/lifetimeMinutes too_large"],
      ["a URL without https", { successUrl: "http://shop.example/" }, "/successUrl not_allowed"],
      ["another scheme", { cancelUrl: "javascript:alert(1)" }, "/cancelUrl not_allowed"],
      ["credentials in a URL", { cancelUrl: "https://me:secret@shop.example/" }, "/cancelUrl not_allowed"],
      ["a text that is no URL", { successUrl: "shop" }, "/successUrl invalid_url"],
      [
        "a URL without slashes after the scheme",
        { successUrl: "https:shop.example/thanks" },
        "/successUrl invalid_url",
      ],
      ["a URL with three slashes", { successUrl: "https:///shop.example/thanks" }, "/successUrl invalid_url"],
      [
        "a URL with a backslash",
        { cancelUrl: "https://shop.example\\@other.example/" },
        "/cancelUrl invalid_url",
      ],
      [
        "a URL of 2049 characters",
        { successUrl: `https://shop.example/${"x".repeat(2028)}` },
        "/successUrl too_long",
      ],
    ])("with %s", async (_name, input, detail) => {
      const cartId = await cart();
      const { error } = await withoutTrace(world(), () => trySession(world(), { cartId, input }));
      const details = error.details.map(
        ({ field, code }: { field: string; code: string }) => `${field} ${code}`,
      );
      expect([error.code, details]).toEqual(["invalid_field", [detail]]);
    });

    it.each(["http://localhost:3000/a", "http://127.0.0.1/a", "http://[::1]:8080/a"])(
      "except on localhost: %s is accepted",
      async (successUrl) => {
        expect(
          (await trySession(world(), { cartId: await cart(), input: { successUrl } })).data,
        ).toMatchObject({ successUrl });
      },
    );

    it("with an expired address token", async () => {
      const cartId = await cart();
      const { data } = await changeCart(world(), "cartAddressSet", { cartId, input: { address: berlin } });
      world().clock.advance(30 * minuteMs);
      const input = { addressToken: data.addressToken };
      expect(
        (await withoutTrace(world(), () => trySession(world(), { cartId, input }))).error.details,
      ).toMatchObject([{ field: "/addressToken" }]);
    });

    it("for a live merchant without a payment provider", async () => {
      const { db } = world().database;
      const { id } = world().demo.merchants.first;
      const cartId = await cart();
      await db.updateTable("merchant").set({ mode: "live" }).where("id", "=", id).execute();
      const reason = "payment_provider_missing";
      const conflict = cartConflict({
        code: "invalid_state",
        id: cartId,
        status: "active",
        version: 1,
        reason,
      });
      expect(await refusal(() => trySession(world(), { cartId }))).toEqual({
        code: "invalid_state",
        conflict,
      });
      await db.updateTable("merchant").set({ mode: "test" }).where("id", "=", id).execute();
    });

    it("for a cart of another buyer, who cannot read the session either", async () => {
      const cartId = (await makeCart(world(), { lines: { "KIT-KVERN": 1 }, buyer: "anna" })).id;
      expect(await refusal(() => trySession(world(), { cartId, buyer: "bert" }))).toMatchObject({
        code: "cart_not_found",
      });
      const { id } = await makeSession(world(), { cartId, buyer: "anna" });
      expect((await readSession(world(), id, { buyer: "bert" })).data).toBeNull();
      expect((await readSession(world(), id, { buyer: "anna" })).data).toMatchObject({ id });
    });
  });

  describe("end by time", () => {
    beforeAll(() => setStock("KIT-EMALJE-WHITE", 100));

    it("before the sweep writes it: cart, stock and session read as ended at once", async () => {
      const { id, cartId } = await makeReadySession(world());
      world().clock.advance(60 * minuteMs);
      expect((await readSession(world(), id)).data).toMatchObject({
        status: "EXPIRED",
        version: 1,
        cartStatus: "ACTIVE",
      });
      expect((await callCart(world(), "getPublicCart", { cartId })).body.data).toMatchObject({
        status: "active",
        checkout: null,
      });
    });

    it("in the sweep, once: everything is released and published", async () => {
      const { reserved } = await stockOf(world(), "KIT-KVERN");
      await sweepSessions(world());
      const settled = await stockOf(world(), "KIT-KVERN");
      expect(settled.reserved).toBeLessThan(reserved);
      const { id, cartId } = await makeSession(world());
      const before = (await readCart(world(), cartId)).data;
      world().clock.advance(60 * minuteMs - 1);
      expect(await sweepSessions(world())).toBe(0);
      world().clock.advance(1);
      expect(await sweepSessions(world())).toBe(1);
      expect(await withoutTrace(world(), () => sweepSessions(world()))).toBe(0);
      expect(await stockOf(world(), "KIT-KVERN")).toEqual(settled);
      expect((await readSession(world(), id)).data).toMatchObject({
        status: "EXPIRED",
        version: 2,
        cartVersion: 3,
        cartStatus: "ACTIVE",
      });
      expect((await readCart(world(), cartId)).data).toMatchObject({
        status: "ACTIVE",
        version: 3,
        expiresAt: before.expiresAt,
      });
      const events = (await eventsOf(world(), id)).find(({ type }) => type === "checkout_session.expired");
      expect(events?.snapshot).toMatchObject({
        cause: { actor: "system" },
        data: { previous: { status: "open", version: 1, cartStatus: "locked" } },
      });
      expect((await eventsOf(world(), cartId)).map(({ type }) => type)).toEqual([
        "cart.created",
        "cart.locked",
        "cart.unlocked",
      ]);
    });

    it("but not while they are processing a payment", async () => {
      const { id } = await makeSession(world());
      const { db } = world().database;
      await sql`update hosted_checkout_session set status = 'processing', submitted_at = created_at
        where id = ${id}`.execute(db);
      world().clock.advance(120 * minuteMs);
      await sweepSessions(world());
      expect((await readSession(world(), id)).data).toMatchObject({
        status: "PROCESSING",
        version: 1,
        cartStatus: "LOCKED",
      });
    });

    it("and the next session of the cart writes the end of the previous one", async () => {
      const settled = await stockOf(world(), "KIT-KVERN");
      const { id, cartId } = await makeSession(world());
      world().clock.advance(60 * minuteMs);
      const next = await makeSession(world(), { cartId });
      expect(next).toMatchObject({ version: 1, cartVersion: 3, cartStatus: "LOCKED" });
      expect((await readSession(world(), id)).data).toMatchObject({ status: "EXPIRED", version: 2 });
      expect(await stockOf(world(), "KIT-KVERN")).toEqual({ ...settled, reserved: settled.reserved + 1 });
      const events = (await eventsOf(world(), cartId))
        .filter(({ version }) => version === 3)
        .map(({ type }) => type);
      expect(events).toEqual(["cart.locked", "cart.unlocked"]);
    });

    it("and release their units before the sweep", async () => {
      const { reserved } = await stockOf(world(), "KIT-EMALJE-WHITE");
      await setStock("KIT-EMALJE-WHITE", reserved + 3);
      await makeSession(world(), { lines: { "KIT-EMALJE-WHITE": 3 } });
      const late = await makeCart(world(), { lines: {} });
      world().clock.advance(60 * minuteMs);
      const { data } = await changeCart(world(), "cartLinesAdd", {
        cartId: late.id,
        input: { lines: [{ variantId: await variantOf(world(), "KIT-EMALJE-WHITE"), quantity: 3 }] },
      });
      expect(data.lines).toMatchObject([{ quantity: 3, availableQuantity: 3 }]);
      await makeSession(world(), { cartId: late.id });
      expect(await stockOf(world(), "KIT-EMALJE-WHITE")).toEqual({
        onHand: reserved + 3,
        reserved: reserved + 3,
      });
    });
  });

  it("are listed for the merchant's staff by their current status", async () => {
    const { id } = await makeSession(world());
    const list = async (status: string) => {
      const { data } = await askGraph(
        world(),
        `{ hostedCheckoutSessions(last: 100, status: ${status}) { totalCount edges { node { id status } } }
          }`,
        {},
        { token: "admin" },
      );
      return data.edges.map(({ node }: { node: { id: string } }) => node.id) as string[];
    };
    expect(await list("OPEN")).toContain(id);
    world().clock.advance(60 * minuteMs);
    expect(await list("OPEN")).not.toContain(id);
    expect(await list("EXPIRED")).toContain(id);
    await sweepSessions(world());
    expect(await list("EXPIRED")).toContain(id);
  });
});
