/**
 * The catalogue of errors explains exactly the codes of the registry, and each error's docUrl links to its
 * entry.
 */
import { describe, expect, it } from "vitest";
import { type FailureCode, failureKinds } from "#foundation/failure.ts";
import { listOpenApiOperations, type OpenApiDocument } from "#pages/docs/api-document.ts";
import { readErrorGuide } from "#pages/docs/errors-page.ts";
import { publicUrl, type Answer } from "#test/support/world.ts";
import { useWorld } from "#test/support/use-world.ts";
import { idsOf, pageAt, textOf } from "./docs-pages.ts";

const world = useWorld();
const codes = Object.keys(failureKinds) as FailureCode[];

describe("the catalogue", () => {
  it("explains every code of the registry once, and no other", () => {
    const explained = readErrorGuide().flatMap(({ entries }) => entries.map(({ code }) => code));
    expect(explained.toSorted()).toEqual(codes.toSorted());
  });

  it("refuses a missing, superfluous or incomplete entry", () => {
    const entry = (code: string, text = "It happens.\n\nDo this."): string => `### ${code}\n\n${text}\n\n`;
    const all = codes.map((code) => entry(code)).join("");
    expect(readErrorGuide(`# Errors\n\n## All\n\n${all}`)).toHaveLength(1);
    expect(() => readErrorGuide(`## All\n\n${all.replace(entry("cart_locked"), "")}`)).toThrow(
      "does not explain cart_locked",
    );
    expect(() => readErrorGuide(`## All\n\n${all}${entry("cart_lost")}`)).toThrow(
      "explains cart_lost, which is not a registered error code",
    );
    expect(() =>
      readErrorGuide(`## All\n\n${all.replace(entry("cart_locked"), entry("cart_locked", "It happens."))}`),
    ).toThrow("cart_locked needs two");
  });

  it("states for each code its status, its meaning and whether the request may be repeated", async () => {
    const html = await pageAt(world(), "/docs/errors");
    for (const code of codes) {
      const kind: { status: number; text: string; retryable?: boolean } = failureKinds[code];
      const entry = textOf(
        new RegExp(`<section class="error" id="${code}"[\\s\\S]+?</section>`).exec(html)?.[0] ?? "",
      ).replaceAll(/\s+/g, " ");
      expect(entry).toContain(
        `${code} ${kind.status} ${kind.retryable === true ? "retryable" : "not retryable"} ${kind.text}`,
      );
    }
  });

  it("lists each code under its status", () => {
    const misplaced = readErrorGuide().flatMap(({ title, entries }) => {
      const [status] = /^\d{3}/.exec(title) ?? [];
      return status === undefined
        ? []
        : entries.filter(({ code }) => failureKinds[code].status !== Number(status));
    });
    expect(misplaced).toEqual([]);
  });
});

describe("docUrl", () => {
  const refusals: readonly (readonly [string, () => Promise<Answer>])[] = [
    ["route_not_found", () => world().get("/nothing")],
    ["credentials_missing", () => world().get("/api/v1/open/identity")],
    ["missing_parameter", () => world().get("/api/v1/search")],
    ["cart_not_found", () => world().getWithKey("/api/v1/open/storefront/carts/nothing")],
    [
      "scope_missing",
      () => world().getWithKey(`/api/v1/open/storefront/carts/${world().demo.carts.active}`, "noScope"),
    ],
    ["method_not_allowed", () => world().send({ method: "POST", url: "/docs" })],
  ];
  it.each(refusals)("of %s links to its entry", async (code, ask) => {
    const { body } = await ask();
    expect(body.error.code).toBe(code);
    const { docUrl } = body.error as { docUrl: string };
    expect(docUrl).toBe(`${publicUrl}/docs/errors#${code}`);
    const { pathname, hash } = new URL(docUrl);
    expect(idsOf(await pageAt(world(), pathname))).toContain(hash.slice(1));
  });
});

describe("the error codes of an operation", () => {
  const key = (): Record<string, string> => ({
    authorization: `Bearer ${world().demo.keys.full}`,
    "idempotency-key": crypto.randomUUID(),
  });
  const of = async (id: string): Promise<readonly string[]> => {
    const document = (await world().get("/openapi.json")).body as OpenApiDocument;
    return listOpenApiOperations(document).find((operation) => operation.id === id)?.errorCodes ?? [];
  };
  const cart = (name: keyof ReturnType<typeof world>["demo"]["carts"]): string =>
    `/api/v1/open/storefront/carts/${world().demo.carts[name]}`;

  it("include the codes that it really returns", async () => {
    const put = (url: string, body: unknown): Promise<Answer> =>
      world().send({ method: "PUT", url, headers: key(), body });
    const answers: Record<string, Answer[]> = {
      applyPublicCartPromotion: [
        await put(`${cart("active")}/promotion`, { code: "NOBODY" }),
        await put(`${cart("active")}/promotion`, { code: world().demo.promotionCodes.ended }),
        await put(`${cart("empty")}/promotion`, { code: "LINDEN10" }),
        await put(`${cart("locked")}/promotion`, { code: "LINDEN10" }),
        await put(`${cart("revoked")}/promotion`, { code: "LINDEN10" }),
        await put(`${cart("otherMerchant")}/promotion`, { code: "LINDEN10" }),
        await put(`${cart("active")}/promotion`, { code: "LINDEN10", expectedVersion: 999 }),
        await put(`${cart("active")}/promotion`, { code: "" }),
        await put(`${cart("active")}/promotion`, {}),
      ],
      setPublicCartAddress: [
        await put(`${cart("active")}/address`, {
          address: { recipientName: "A", line1: "B", countryCode: "DE" },
        }),
      ],
      searchPublicProducts: [
        await world().get("/api/v1/search?q=&locale=!&market=DE&sort=newest&page=1&pageSize=1"),
        await world().get("/api/v1/search?q=&locale=de&market=X1&sort=newest&page=1&pageSize=1"),
        await world().get("/api/v1/search?q=&locale=de&market=DE&sort=newest&page=1000&pageSize=100"),
      ],
      getPublicMerchantProduct: [
        await world().get("/api/v1/catalog/merchants/nobody/products/nothing"),
        await world().get(`/api/v1/catalog/merchants/${world().demo.merchants.first.slug}/products/nothing`),
      ],
      createInstallationWebhook: [
        await world().send({
          method: "POST",
          url: "/api/v1/open/webhooks/endpoints",
          headers: key(),
          body: { url: "ftp://x", eventTypes: ["*"] },
        }),
        await world().send({
          method: "POST",
          url: "/api/v1/open/webhooks/endpoints",
          headers: key(),
          body: { url: "https://a.example/", eventTypes: ["no.such"] },
        }),
      ],
    };
    for (const [id, refused] of Object.entries(answers)) {
      const known = await of(id);
      for (const { status, body } of refused) {
        expect(status).toBeGreaterThanOrEqual(400);
        expect([id, known]).toEqual([id, expect.arrayContaining([body.error.code])]);
      }
    }
  });

  it("omit credential errors without authentication, and body errors without a body", async () => {
    const codesOfSearch = await of("searchPublicProducts");
    expect(codesOfSearch.filter((code) => failureKinds[code as FailureCode].status === 401)).toEqual([]);
    expect(codesOfSearch).not.toContain("invalid_json");
    expect(await of("describeOAuthAuthorization")).not.toContain("api_key_invalid");
    expect(await of("getApiKeyIdentity")).not.toContain("merchant_suspended");
  });
});
