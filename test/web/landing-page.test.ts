/** `/` greets browsers with the landing page, and answers programs with 404 and a link. */
import { describe, expect, it } from "vitest";
import type { PartialDemoJsonFileContent } from "#demo/demo-file.ts";
import { createLandingPage } from "#pages/landing/landing-page.ts";
import { isLoopbackUrl } from "#pages/shared/loopback.ts";
import { expectError } from "#test/support/expect-error.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";

const world = useWorld();
const chromium = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

it("greets a browser with links to the service's parts, in a page of its own", async () => {
  const answer = await world().send({ method: "GET", url: "/", headers: { accept: chromium } });
  expect([answer.status, answer.headers]).toEqual([
    200,
    expect.objectContaining({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      vary: "Accept",
      "cache-control": "no-store",
      "x-request-id": expect.stringMatching(/^req_/),
    }),
  ]);
  for (const path of ["/docs", "/docs/guides/getting-started", "/console", "/graphql", "/openapi.json"])
    expect(answer.text).toContain(`href="${path}"`);
  expect(answer.text).not.toContain("Console: password");
});

describe("the demo's secrets", () => {
  const demo = {
    products: [{ merchantSlug: "shop", productSlug: "lamp", title: "Lamp", sku: "L-1" }],
    merchants: { first: { id: "mer_1", slug: "shop" }, second: { id: "mer_2", slug: "other" } },
    keys: { full: "key-of-demo" },
    tokens: { admin: "token-of-admin", analyst: "token-of-analyst" },
    staff: { email: "demo@shop.example", password: "password-of-demo" },
    checkout: { url: "http://127.0.0.1:4000/checkout/secret-of-checkout" },
  } as unknown as PartialDemoJsonFileContent;
  const secrets = ["key-of-demo", "token-of-admin", "password-of-demo", "secret-of-checkout"];
  const textOf = (address: string, hasSecrets: boolean): string =>
    createLandingPage({
      basePath: "",
      publicUrl: address,
      demo,
      hasSecrets,
      asset: { scripts: [], styles: [] },
    }).body.text;

  it("are shown at a loopback address", () => {
    const text = textOf("http://127.0.0.1:4000", true);
    for (const secret of secrets) expect(text).toContain(secret);
    expect(text).toContain('href="/checkout/secret-of-checkout"');
  });

  it("are not shown at other addresses, where the page says where they are", () => {
    const text = textOf("https://demo.example", false);
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).toContain("demo.json");
    expect(text).toContain("https://demo.example/api/v1/catalog/merchants/shop/products/lamp");
  });

  it.each([
    ["http://127.0.0.1:4000", true],
    ["http://localhost:4000", true],
    ["http://[::1]:4000", true],
    ["http://127.0.0.1.example:4000", false],
    ["https://api.example", false],
    ["http://192.168.0.10:4000", false],
  ])("the address %s is a loopback address: %s", (address, isOwn) => {
    expect(isLoopbackUrl(address)).toBe(isOwn);
  });
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
