/** `/` leads browsers to the documentation, and answers programs with 404 and a link. */
import { expect, it } from "vitest";
import { expectError } from "#test/support/expect-error.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";

const world = useWorld("pglite");
const chromium = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

it("redirects a browser to the documentation, with the headers of every answer", async () => {
  const answer = await world().send({ method: "GET", url: "/", headers: { accept: chromium } });
  expect([answer.status, answer.headers]).toEqual([
    302,
    expect.objectContaining({
      location: "/docs",
      vary: "Accept",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": expect.stringMatching(/^req_/),
    }),
  ]);
});

it.each([["*/*"], ["application/json"], [undefined]])(
  "answers 404 with a link to the documentation to Accept: %s",
  async (accept) => {
    const headers: Record<string, string> = accept === undefined ? {} : { accept };
    const answer = await world().send({ method: "GET", url: "/", headers });
    expectError(answer, { status: 404, code: "route_not_found" });
    const docs = `${publicUrl}/docs`;
    expect(answer.body.error.message).toBe(`No route has this path. The documentation is at ${docs}.`);
    expect(answer.headers).toMatchObject({ link: `<${docs}>; rel="service-doc"`, vary: "Accept" });
  },
);

it("accepts only GET and HEAD", async () => {
  const answer = await world().send({ method: "POST", url: "/" });
  expectError(answer, { status: 405, code: "method_not_allowed" });
  expect(answer.headers["allow"]).toBe("GET, HEAD");
});
