/** Subscriptions of a staff member in the console: they end with the session and do not extend it. */
import { beforeAll, describe, expect, it } from "vitest";
import { changeCart, linesOf, makeCart } from "#test/operations/cart-calls.ts";
import { createPerson } from "#test/oauth/people.ts";
import { useWorld } from "#test/support/use-world.ts";
import { scriptHeaders, signInAs, submitSignOut } from "#test/web/console/console-calls.ts";
import { type Followed, useStreams } from "./streams.ts";

const cartChanged = "subscription ($id: ID!) { cartChanged(id: $id) { version } }";
const minuteMs = 60_000;

describe("the console's streams", () => {
  const world = useWorld("postgres", { environment: { PORT: "0" } });
  beforeAll(async () => {
    await world().app.listen();
  });
  const followed = useStreams(world);
  const follow = (cookie: string, id: string, headers = scriptHeaders(world())): Promise<Followed> =>
    followed({ query: cartChanged, variables: { id }, token: null, headers: { cookie, ...headers } });
  const codesOf = async (stream: Followed): Promise<string[]> =>
    (await stream.rest()).flatMap(({ errors = [] }) =>
      errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code),
    );

  it("end when the staff member signs out", async () => {
    const { id } = await makeCart(world());
    const { email } = await createPerson(world());
    const cookie = await signInAs(world(), email);
    const stream = await follow(cookie, id);
    expect((await stream.next()).data).toEqual({ cartChanged: { version: 1 } });
    await submitSignOut(world(), cookie);
    expect(await codesOf(stream)).toEqual(["credentials_missing"]);
  });

  it("do not keep an unused session alive", async () => {
    const { id } = await makeCart(world());
    const { email } = await createPerson(world());
    const cookie = await signInAs(world(), email);
    const stream = await follow(cookie, id);
    await stream.next();
    world().clock.advance(59 * minuteMs);
    // The stream checks the session meanwhile.
    world().statements.length = 0;
    await expect
      .poll(() => world().statements.filter((text) => text.includes('from "staff_session"')).length, {
        timeout: 10_000,
      })
      .toBeGreaterThan(0);
    expect(world().statements.filter((text) => text.startsWith("update staff_session"))).toEqual([]);
    world().clock.advance(2 * minuteMs);
    const codes = await codesOf(stream);
    // The session becomes idle in the same hour in which the stream ends.
    expect([[], ["credentials_missing"]]).toContainEqual(codes);
    expect((await follow(cookie, id)).response.status).toBe(401);
  });

  it("do not extend the session when they are reopened after each end", async () => {
    const { id } = await makeCart(world());
    const { email } = await createPerson(world());
    const cookie = await signInAs(world(), email);
    for (let time = 0; time < 3; time += 1) {
      const stream = await follow(cookie, id);
      expect((await stream.next()).data).toEqual({ cartChanged: { version: 1 } });
      stream.leave();
      world().clock.advance(20 * minuteMs);
    }
    expect((await follow(cookie, id)).response.status).toBe(401);
  });

  it("end with an error if the session cannot be checked, and log the reason", async () => {
    const { id } = await makeCart(world());
    const { email } = await createPerson(world());
    const stream = await follow(await signInAs(world(), email), id);
    await stream.next();
    const lines = await linesOf(world(), { "KIT-KVERN": 1 });
    const { script } = world().database;
    await script((run) => run("alter table staff_session rename to staff_session_gone"));
    try {
      world().logged.length = 0;
      await changeCart(world(), "cartLinesAdd", { cartId: id, input: { lines } });
      expect(await codesOf(stream)).toEqual(["internal_error"]);
      expect(
        world().logged.some(
          ({ code, msg }) =>
            code === "internal_error" && msg === "A GraphQL request failed with a server error.",
        ),
      ).toBe(true);
    } finally {
      await script((run) => run("alter table staff_session_gone rename to staff_session"));
    }
  });

  it("are only for pages of the console", async () => {
    const { id } = await makeCart(world());
    const { email } = await createPerson(world());
    const cookie = await signInAs(world(), email);
    expect(
      (await follow(cookie, id, { origin: "https://elsewhere.example", "x-commerce-console": "1" })).response
        .status,
    ).toBe(401);
    expect((await follow(cookie, id, {})).response.status).toBe(401);
  });
});
