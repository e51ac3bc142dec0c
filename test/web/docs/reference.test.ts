/**
 * The reference contains everything of the OpenAPI document. Its links work, it contains no key, and browsers
 * may cache it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { createLog } from "#foundation/log.ts";
import {
  type OpenApiDocument,
  listOpenApiOperations,
  resolveOpenApiSchema,
  type OpenApiSchema,
  type OpenApiSchemas,
} from "#pages/docs/api-document.ts";
import { createRequestExampleProvider, createStoredExampleAnswerLookup } from "#pages/docs/examples.ts";
import { createDocsSite, type DocsServices, type DocsSite } from "#pages/docs/docs-site.ts";
import { guideNames } from "#pages/docs/guides.ts";
import { expectError } from "#test/support/expect-error.ts";
import { readContract } from "#test/support/openapi.ts";
import { eventTypeNames } from "#webhooks/event-catalogue.ts";
import { useWorld } from "#test/support/use-world.ts";
import { allPages, blocksOf, idsOf, pageAt, textOf } from "./docs-pages.ts";
import { operationCount } from "#test/gateway/contract-table.ts";

const world = useWorld();
const documentOf = async (): Promise<OpenApiDocument> =>
  (await world().get("/openapi.json")).body as OpenApiDocument;

/** Returns the names of all fields, at any depth. */
function fieldsOf(schema: OpenApiSchema, schemas: OpenApiSchemas): string[] {
  const { properties = {}, items } = resolveOpenApiSchema(schema, schemas);
  const below = [...Object.values(properties), ...(items === undefined ? [] : [items])];
  return Object.keys(properties).concat(below.flatMap((part) => fieldsOf(part, schemas)));
}

/** Pages that do not describe one operation: overview, errors, webhooks and the guides. */
const otherPages = 4 + guideNames.length + eventTypeNames.length;

describe("the reference", () => {
  it("has a page for each operation of the contract with its whole description", async () => {
    const document = await documentOf();
    const operations = listOpenApiOperations(document);
    expect(operations).toHaveLength(operationCount);
    const { schemas } = document.components;
    for (const operation of operations) {
      const html = await pageAt(world(), `/docs/operations/${operation.id}`);
      const text = textOf(html).replaceAll(/\s+/g, " ");
      expect(text).toContain(`${operation.method} ${operation.path}`);
      expect(text).toContain(
        operation.description
          .split(/(?<=\.)\s/)[0]
          ?.replaceAll("`", "")
          .replaceAll("\n", " "),
      );
      for (const { name } of [...operation.parameters, ...operation.headers])
        expect(html).toContain(`<code>${name}</code>`);
      for (const name of [
        ...(operation.body === null ? [] : fieldsOf(operation.body, schemas)),
        ...fieldsOf(operation.answer, schemas),
      ])
        expect(html, operation.id).toContain(`<code>${name}</code>`);
      for (const code of operation.errorCodes) expect(html).toContain(`href="/docs/errors#${code}"`);
      for (const { quota, windowSeconds, bucket } of operation.limits)
        expect(text).toMatch(
          new RegExp(
            `${quota} \\w+ in ${windowSeconds === 600 ? "10 min" : `${windowSeconds} s`} .*${bucket}`,
          ),
        );
      if (operation.scope !== null) expect(html).toContain(`<code>${operation.scope}</code>`);
      expect(html.includes('<span class="badge">candidate</span>')).toBe(operation.stability === "candidate");
      expect(text.includes("Needs an Idempotency-Key")).toBe(operation.isIdempotent);
    }
  });

  it("shows the allowed values of a field", async () => {
    const text = textOf(await pageAt(world(), "/docs/operations/createInstallationWebhook")).replaceAll(
      /\s+/g,
      " ",
    );
    expect(text).toMatch(
      /eventTypes array of string required .*? 1 to 100 different names .*? No duplicates\./,
    );
    expect(text).toMatch(/maxPerSecond integer optional .*? 1 to 100\./);
    expect(text).toMatch(/payloadMode string optional .*? One of snapshot, thin\. Default: "snapshot"\./);
    expect(text).toMatch(/disabledAt string or null/);
  });

  it("shows example answers that match the document", async () => {
    const contract = await readContract(world());
    for (const { id } of listOpenApiOperations(await documentOf())) {
      const [answer = ""] = blocksOf(await pageAt(world(), `/docs/operations/${id}`), "Example response");
      expect([id, contract.faultsOf(id, 200, JSON.parse(answer))]).toEqual([id, []]);
    }
  });

  it("has a stored example answer for every operation, for services without a demo", async () => {
    const contract = await readContract(world());
    const document = await documentOf();
    const stored = createStoredExampleAnswerLookup({
      examples: createRequestExampleProvider(undefined),
      publicUrl: "https://shop.example/commerce",
    });
    for (const operation of listOpenApiOperations(document))
      expect([operation.id, contract.faultsOf(operation.id, 200, stored(operation))]).toEqual([
        operation.id,
        [],
      ]);
  });

  it("lists in each group searches and creations first", async () => {
    const ids = listOpenApiOperations(await documentOf());
    expect(ids.filter(({ tag }) => tag === "Webhooks").map(({ id }) => id)).toEqual([
      "listInstallationWebhooks",
      "listInstallationWebhookEvents",
      "createInstallationWebhook",
      "getInstallationWebhookSignatureFixture",
      "replayInstallationWebhookDelivery",
    ]);
    expect(ids.find(({ tag }) => tag === "Catalog")?.id).toBe("listApiKeyCatalogProducts");
  });

  it("lists every published event with its fields", async () => {
    const { webhooks } = await documentOf();
    const html = await pageAt(world(), "/docs/events");
    expect(Object.keys(webhooks).length).toBeGreaterThan(80);
    for (const name of Object.keys(webhooks)) expect(idsOf(html)).toContain(name);
    expect(textOf(html)).toContain("OrderEventObject");
  });

  it("contains the demo's ids, but none of its keys, tokens and passwords", async () => {
    const { demo } = world();
    const pages = [...(await allPages(world())).values()].join("\n");
    for (const id of [
      demo.carts.active,
      demo.orders.placed,
      demo.sessions.open,
      demo.webhooks.endpoint,
      demo.webhooks.deliveries.exhausted,
    ])
      expect(pages).toContain(id);
    for (const secret of [...Object.values(demo.keys), ...Object.values(demo.tokens), demo.staff.password]) {
      expect(pages).not.toContain(secret);
      expect(pages).not.toContain(secret.slice(-30));
    }
    expect(pages).not.toContain(demo.staff.email);
  });

  it("has no broken link and no duplicate id", async () => {
    const pages = await allPages(world());
    const broken: string[] = [];
    for (const [path, html] of pages) {
      const ids = idsOf(html);
      expect([path, ids.length]).toEqual([path, new Set(ids).size]);
      for (const [, href = ""] of html.matchAll(/<a [^>]*href="([^"]+)"/g)) {
        if (href.startsWith("https://") || ["/openapi.json", "/console", "/graphql"].includes(href)) continue;
        const [place = "", fragment] = href.split("#");
        const target = pages.get(place === "" ? path : place);
        if (target === undefined || (fragment !== undefined && !idsOf(target).includes(fragment)))
          broken.push(`${path}: ${href}`);
      }
    }
    expect(pages.size).toBe(otherPages + operationCount);
    expect(broken).toEqual([]);
  });

  it("has page titles, is English, and runs only allowed scripts and styles", async () => {
    const titles = new Set<string>();
    for (const [path, html] of await allPages(world())) {
      expect(html).toMatch(/^<!doctype html><html lang="en">/);
      titles.add(/<title>(.+?)<\/title>/.exec(html)?.[1] ?? path);
      expect([path, html.match(/ style="| on\w+="|<script(?! type="module" src="\/assets\/)/g)]).toEqual([
        path,
        null,
      ]);
      expect(html.match(/<h1[ >]/g)).toHaveLength(1);
    }
    expect(titles.size).toBe(otherPages + operationCount);
    expect(titles).toContain("Get a cart · Commerce Gateway API");
  });
});

describe("its addresses", () => {
  it("may be cached for a minute, and are revalidated with 304", async () => {
    const { status, headers } = await world().get("/docs/errors");
    expect([status, headers["cache-control"], headers["vary"]]).toEqual([
      200,
      "public, max-age=60",
      "Accept-Encoding",
    ]);
    expect(headers["link"]).toMatch(/^<http.+\/docs\/errors>; rel="canonical"$/);
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; /);
    const again = await world().get("/docs/errors", { "if-none-match": headers["etag"] ?? "" });
    expect([again.status, again.text, again.headers["etag"]]).toEqual([304, "", headers["etag"]]);
    const strong = (headers["etag"] ?? "").replace("W/", "");
    const statuses = [`"other", ${strong}`, "*", '"other"'].map(
      async (etag) => (await world().get("/docs/errors", { "if-none-match": etag })).status,
    );
    expect(await Promise.all(statuses)).toEqual([304, 304, 200]);
  });

  it("answer an unknown page with HTML to browsers and with the error to programs", async () => {
    const { status, headers, text } = await world().get("/docs/operations/nothing", { accept: "text/html" });
    expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
      404,
      "text/html; charset=utf-8",
      "no-store",
    ]);
    expect(text).toContain("<h1>There is no such page</h1>");
    expectError(await world().get("/docs/operations/nothing"), { status: 404, code: "route_not_found" });
    for (const path of ["/docs/constructor", "/docs/%2e%2e/errors.md"])
      expect((await world().get(path)).status).toBe(404);
  });

  it("have one canonical form", async () => {
    const { status, headers } = await world().get("/docs/");
    expect([status, headers["location"]]).toEqual([308, "/docs"]);
  });

  it.each(["/docs", "/docs/errors"])("accept only GET: %s", async (url) => {
    const answer = await world().send({ method: "POST", url });
    expectError(answer, { status: 405, code: "method_not_allowed" });
    expect(answer.headers["allow"]).toBe("GET, HEAD");
    expect((await world().send({ method: "HEAD", url })).status).toBe(200);
  });
});

describe("an example answer from the demo", () => {
  const siteOf = async (publicUrl: string, ask: DocsServices["ask"]): Promise<DocsSite> =>
    createDocsSite({
      document: await documentOf(),
      publicUrl,
      readDemo: () => world().demo,
      ask,
      listEventExamples: () => [],
    });
  const textAt = async (site: DocsSite): Promise<string> =>
    (await site.page("operations/getPublicCart"))?.body.plain.toString() ?? "";

  it("is requested below the service's path", async () => {
    const asked: string[] = [];
    const site = await siteOf("https://shop.example/commerce", (path) => {
      asked.push(path);
      return Promise.resolve({ data: { note: "real" } });
    });
    expect(blocksOf(await textAt(site), "Example response")[0]).toContain('"note": "real"');
    expect(asked).toEqual([`/api/v1/open/storefront/carts/${world().demo.carts.active}`]);
  });

  it("is requested again after a refusal or failure, and cached after success", async () => {
    const answers = [
      () => Promise.reject(new Error("Gone.")),
      () => Promise.resolve(undefined),
      () => Promise.resolve({ data: "real" }),
    ];
    let count = 0;
    const site = await siteOf("https://shop.example", () =>
      (answers[count++] ?? (() => Promise.resolve({ data: "later" })))(),
    );
    await expect(textAt(site)).rejects.toThrow("Gone.");
    expect(blocksOf(await textAt(site), "Example response")[0]).toContain(
      `"id": "${world().demo.carts.active}"`,
    );
    for (let time = 0; time < 2; time += 1)
      expect(blocksOf(await textAt(site), "Example response")[0]).toContain('"data": "real"');
    expect(count).toBe(3);
  });
});

it("example answers appear beside their operation, below another path and without a demo", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "docs-"));
  const settings = parseServiceSettings({
    PORT: "4000",
    PUBLIC_URL: "https://shop.example/commerce",
    DATA_DIR: dataDir,
    DEMO: "0",
  });
  const app = await createServiceApp({ settings, log: createLog("silent"), database: world().database });
  onTestFinished(async () => {
    await app.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const { body: html } = await app.server.inject({ url: "/docs/operations/getPublicCart" });
  expect(html).toContain('href="/commerce/docs/errors#cart_not_found"');
  expect(html).toContain('data-path="/commerce/api/v1/open/storefront/carts/{cartId}"');
  const [curl] = blocksOf(html, "curl");
  expect(curl).toBe(
    [
      "curl 'https://shop.example/commerce/api/v1/open/storefront/carts/cart_01jgfj2v00fxtr0000000000c1' \\",
      '  -H "Authorization: Bearer $KEY"',
    ].join("\n"),
  );
  expect(blocksOf(html, "Shell")).toEqual(["export KEY=cpk_…"]);
  const document = JSON.parse((await app.server.inject({ url: "/openapi.json" })).body) as {
    servers: { url: string }[];
    externalDocs: { url: string };
    components: { securitySchemes: { oauth: { flows: { authorizationCode: { tokenUrl: string } } } } };
  };
  expect(document.servers.map(({ url }) => url)).toEqual(["https://shop.example/commerce"]);
  expect(document.externalDocs.url).toBe("https://shop.example/commerce/docs");
  expect(document.components.securitySchemes.oauth.flows.authorizationCode.tokenUrl).toBe(
    "https://shop.example/commerce/oauth/token",
  );
});
