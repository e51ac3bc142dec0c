/** Subscriptions over HTTP: how they are requested, how many a caller may open, and what ends them. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import { changeCart, linesOf, makeCart } from "#test/operations/cart-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import { createWorld } from "#test/support/world.ts";
import { followIn, useStreams, watchers } from "./streams.ts";

const cartChanged = "subscription ($id: ID!) { cartChanged(id: $id) { id version } }";
const streamsOfCallerMax = 20;
const hourMs = 3_600_000;

describe.each(["pglite", "postgres"] as const)("streams on %s", (engine) => {
  const world = useWorld(engine, { environment: { PORT: "0" } });
  let id: string;
  beforeAll(async () => {
    await world().app.listen();
    ({ id } = await makeCart(world()));
  });
  const followed = useStreams(world);
  const operate = async (mutation: string) => {
    const { body } = await world().graphql(`mutation { ${mutation} }`, { token: "operator" });
    expect(body.errors).toBe(undefined);
    return body.data[Object.keys(body.data)[0] ?? ""];
  };
  const tokenOf = async (merchantId: string): Promise<{ id: string; value: string }> => {
    const { value, internalToken } = await operate(
      `internalTokenCreate(input: { name: "Token", role: ADMIN, merchantId: "${merchantId}" }) { ` +
        "value internalToken { id } }",
    );
    return { id: internalToken.id, value };
  };
  const codesOf = (results: readonly { errors?: { extensions: { code: string } }[] }[]): string[][] =>
    results.map(({ errors = [] }) => errors.map(({ extensions }) => extensions.code));

  it("require the Accept header: without it a subscription is refused and the error names it", async () => {
    const { status, body } = await world().graphql(cartChanged, { variables: { id } });
    expect(status).toBe(400);
    expect(body.errors[0].extensions).toMatchObject({
      code: "malformed_request",
      details: [{ in: "header", field: "Accept", code: "required" }],
      message: expect.stringContaining("Accept: text/event-stream"),
    });
  });

  it("are only for subscriptions: other operations are answered in JSON", async () => {
    for (let time = 0; time < 8; time += 1) {
      const stream = await followed({
        query: "query ($id: ID!) { cart(id: $id) { id } }",
        variables: { id },
      });
      expect(stream.response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect((await stream.next()).data).toEqual({ cart: { id } });
    }
  });

  it("follow a trusted document that the request names by its hash", async () => {
    const document = "subscription Follow($id: ID!) { cartChanged(id: $id) { id status } }";
    const { body } = await world().graphql(
      "mutation ($input: TrustedDocumentsRegisterInput!) { trustedDocumentsRegister(input: $input) { " +
        "documents { sha256 } } }",
      { variables: { input: { documents: [{ document }] } } },
    );
    const { sha256 } = body.data.trustedDocumentsRegister.documents[0];
    const named = { documentId: `sha256:${sha256}`, variables: { id } };
    const stream = await followed(named);
    expect(await stream.next()).toEqual({
      data: { cartChanged: { id, status: "ACTIVE" } },
      extensions: { cost: { requested: 3, limit: 20_000 } },
    });
    const refused = await followed({ ...named, headers: { accept: "application/json" } });
    expect(refused.response.status).toBe(400);
    expect((await refused.next()).errors[0].message).toContain("Accept: text/event-stream");
  });

  it("are refused for GET", async () => {
    const { status, body } = await world().get("/graphql", { accept: "text/event-stream" });
    expect(status).toBe(405);
    expect(body.error.message).toContain("Subscriptions need POST");
  });

  it("have the limits of other documents", async () => {
    const deep = `subscription ($id: ID!) { cartChanged(id: $id) { ${"lines { ".repeat(13)} id
      ${"} ".repeat(13)} } }`;
    const unclean = await followed({ query: cartChanged, variables: { id: "a\u0000b" } });
    expect(unclean.response.status).toBe(400);
    expect(codesOf([await unclean.next()])).toEqual([["invalid_field"]]);
    expect((await followed({ query: deep, variables: { id } })).response.status).toBe(400);
    const nested =
      "event { deliveries { event { deliveries { event { deliveries { attempts { id } } } } } } }";
    const costly = await followed({
      query: `subscription ($id: ID!) { deliveryChanged(endpointId: $id) { deliveries { ${nested} } } }`,
      variables: { id: "whe_none" },
    });
    expect(costly.response.status).toBe(400);
    expect((await costly.next()).errors[0].extensions.details[0]).toMatchObject({
      in: "limit",
      field: "cost",
    });
  });

  it.each([
    "subscription ($id: ID!) { cartChanged(id: $id) @include(if: false) { id } }",
    "subscription ($id: ID!) { cartChanged(id: $id) @skip(if: true) { id } }",
    "subscription ($id: ID!) { ... @include(if: false) { cartChanged(id: $id) { id } } }",
    "subscription ($id: ID!) { ...Root } fragment Root on Subscription { cartChanged(id: $id) " +
      "@include(if: true) { id } }",
  ])("require a field that is always selected: %s is refused", async (query) => {
    const refused = await followed({ query, variables: { id } });
    expect(refused.response.status).toBe(400);
    expect((await refused.next()).errors[0].extensions).toMatchObject({
      code: "malformed_request",
      details: [{ code: "not_allowed" }],
    });
    const inside = await followed({
      query: "subscription ($id: ID!) { cartChanged(id: $id) { id version @skip(if: true) } }",
      variables: { id },
    });
    expect((await inside.next()).data).toEqual({ cartChanged: { id } });
  });

  it("are limited per credential; a closed stream makes room for another", async () => {
    const streams = await Promise.all(
      Array.from({ length: streamsOfCallerMax }, () => followed({ query: cartChanged, variables: { id } })),
    );
    for (const stream of streams) await stream.next();
    expect(watchers(world())).toBe(streamsOfCallerMax);
    const refused = await followed({ query: cartChanged, variables: { id } });
    expect([refused.response.status, refused.response.headers.get("retry-after")]).toEqual([429, "5"]);
    expect(codesOf([await refused.next()])).toEqual([["rate_limited"]]);
    expect(
      (await followed({ query: cartChanged, variables: { id }, token: "storefront" })).response.status,
    ).toBe(200);
    for (const { leave } of streams) leave();
    await expect.poll(() => watchers(world())).toBe(1);
    expect((await followed({ query: cartChanged, variables: { id } })).response.status).toBe(200);
  });

  it("end when the token is revoked", async () => {
    const token = await tokenOf(world().demo.merchants.first.id);
    const stream = await followed({ query: cartChanged, variables: { id }, token: token.value });
    await stream.next();
    await operate(`internalTokenRevoke(input: { internalTokenId: "${token.id}" }) { id }`);
    expect(codesOf(await stream.rest())).toEqual([["api_key_revoked"]]);
  });

  it("send nothing after the token is revoked, not even a change made right after", async () => {
    const token = await tokenOf(world().demo.merchants.first.id);
    const { id: cartId } = await makeCart(world());
    const stream = await followed({ query: cartChanged, variables: { id: cartId }, token: token.value });
    await stream.next();
    const lines = await linesOf(world(), { "KIT-KVERN": 1 });
    await operate(`internalTokenRevoke(input: { internalTokenId: "${token.id}" }) { id }`);
    await changeCart(world(), "cartLinesAdd", { cartId, input: { lines } });
    const rest = await stream.rest();
    expect(rest.map(({ data }) => data)).toEqual([undefined]);
    expect(codesOf(rest)).toEqual([["api_key_revoked"]]);
  });

  it("reveal no more of an internal error than other answers", async () => {
    const reads = world().app.services.reads?.carts ?? expect.fail("Nothing is read together.");
    using load = vi.spyOn(reads, "load").mockRejectedValueOnce(new Error("what nobody need know"));
    const stream = await followed({ query: cartChanged, variables: { id } });
    const rest = await stream.rest();
    expect(load).toHaveBeenCalledTimes(1);
    expect(codesOf(rest)).toEqual([["internal_error"]]);
    expect(rest[0].data).toEqual({ cartChanged: null });
    expect(JSON.stringify(rest)).not.toContain("need know");
    expect(JSON.stringify(world().logged)).toContain("need know");
  });

  it("end after an hour, so that the client reconnects", async () => {
    const stream = await followed({ query: cartChanged, variables: { id } });
    await stream.next();
    world().clock.advance(hourMs);
    expect(await stream.rest()).toEqual([]);
  });

  it("end when the merchant is suspended", async () => {
    const merchantId = world().demo.merchants.second.id;
    const token = await tokenOf(merchantId);
    const cart = await makeCart(world(), { token: "operator", merchantId, lines: { "MR-PROBE": 1 } });
    const stream = await followed({ query: cartChanged, variables: { id: cart.id }, token: token.value });
    expect((await stream.next()).data.cartChanged).toMatchObject({ version: 1 });
    await operate(`merchantSuspend(input: { merchantId: "${merchantId}" }) { id }`);
    expect(codesOf(await stream.rest())).toEqual([["merchant_suspended"]]);
  });
});

describe("a process that stops", () => {
  it('ends all streams with "complete" and exits without delay', async () => {
    await using world = await createWorld("postgres", { environment: { PORT: "0" } });
    await world.app.listen();
    const { id } = await makeCart(world);
    const streams = await Promise.all(
      [1, 2, 3].map(() => followIn(world, { query: cartChanged, variables: { id } })),
    );
    for (const stream of streams) await stream.next();
    const closing = world.app.close();
    for (const stream of streams) expect(await stream.rest()).toEqual([]);
    await closing;
    expect(watchers(world)).toBe(0);
  });
});
