/** CSV reports by link: signed-in staff download them without a token, only from pages of this service. */
import { describe, expect, it } from "vitest";
import { createPerson } from "#test/oauth/people.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { cookieName, signInAs, submitSignOut } from "#test/web/console/console-calls.ts";

const span = "from=2031-05-01&to=2031-05-02";
const sales = `/reports/sales.csv?${span}`;
const link = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" };

describe("a CSV report by link", () => {
  const world = useWorld();
  const follow = (
    cookie: string,
    url = sales,
    headers: Readonly<Record<string, string>> = link,
  ): Promise<Answer> => world().get(url, { cookie, ...headers });
  const signIn = async (): Promise<string> => signInAs(world(), (await createPerson(world())).email);

  it("downloads the same file as with a token of the merchant", async () => {
    const answer = await follow(await signIn());
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="sales-2031-05-01-2031-05-02.csv"',
      "cache-control": "no-store",
    });
    const authorization = `Bearer ${world().demo.tokens.admin}`;
    expect(answer.text).toBe((await world().get(sales, { authorization })).text);
  });

  it("refuses without a session, with an unknown session and after sign-out", async () => {
    const cookie = await signIn();
    expect((await follow(cookie)).status).toBe(200);
    await submitSignOut(world(), cookie);
    for (const ended of [cookie, `${cookieName}=unknown`, "other=1"])
      expect(await follow(ended)).toMatchObject({
        status: 401,
        body: { error: { code: "credentials_missing" } },
      });
  });

  it("refuses another merchant's report", async () => {
    const url = `${sales}&merchantId=${world().demo.merchants.second.id}`;
    expect(await follow(await signIn(), url)).toMatchObject({
      status: 404,
      body: { error: { code: "merchant_not_found" } },
    });
  });

  it.each([
    ["on another site", { "sec-fetch-site": "cross-site" }],
    ["on a neighbouring host", { "sec-fetch-site": "same-site" }],
    ["in the address bar", { "sec-fetch-site": "none" }],
    ["of a browser that does not say where", {}],
    ["with the origin of another site", { "sec-fetch-site": "same-origin", origin: "https://evil.example" }],
  ])("refuses a link %s", async (_case, headers) => {
    const cookie = await signIn();
    expect(await follow(cookie, sales, headers)).toMatchObject({
      status: 401,
      body: { error: { code: "credentials_missing" } },
    });
    expect((await follow(cookie)).status).toBe(200);
  });

  it("does not open GraphQL to links", async () => {
    const answer = await follow(await signIn(), "/graphql?query=%7Bviewer%7Brole%7D%7D");
    expect(answer.text).not.toContain('"admin"');
  });
});
