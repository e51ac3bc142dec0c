/**
 * Follows docs/mesh.md, "Add a second source": adds an ERP to the commerce graph with changes of
 * `.meshrc.yaml` only.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { temporaryFolderUntil } from "#test/support/process.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { type Erp, erpDocument, startErp } from "./erp.ts";
import { fillMeshFolder, sectionOf } from "./mesh-folder.ts";

/** The code blocks of a section that begin with a file name. */
function filesOf(section: string): Record<string, string> {
  const blocks = section.matchAll(/```(?:yaml|graphql)\n# (?<name>\S+)\n(?<text>[\s\S]*?)```/g);
  return Object.fromEntries(
    [...blocks].map(({ groups = {} }) => [groups["name"] ?? "", groups["text"] ?? ""]),
  );
}

const { ".meshrc.yaml": configuration = "", ...files } = filesOf(sectionOf("mesh.md", "Add a second source"));

describe("a second source", () => {
  let erp: Erp;
  let world: World;
  const folder = temporaryFolderUntil(afterAll);
  beforeAll(async () => {
    erp = await startErp();
    vi.stubEnv("ERP_ADDRESS", erp.address);
    fillMeshFolder(folder, () => configuration, { ...files, "erp.json": JSON.stringify(erpDocument) });
    world = await createWorld("postgres", { meshFolder: folder, environment: { RATE_LIMIT_SCALE: "1" } });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await world[Symbol.asyncDispose]();
    await erp[Symbol.asyncDispose]();
  });

  const stockUrl = (): string => {
    const [product] = world.demo.products;
    return `/api/v1/catalog/merchants/${product?.merchantSlug}/products/${product?.productSlug}/stock`;
  };

  it("is described by three files in docs/mesh.md", () => {
    expect(Object.keys(files)).toEqual(["erp-stock.graphql", "getPublicProductStock.graphql"]);
    expect(configuration).toContain("merger: bare");
  });

  it("is read by a REST operation together with data of the commerce graph", async () => {
    const answer = await world.getWithKey(stockUrl(), "catalogRead");
    expect(answer.status).toBe(200);
    const { variants } = answer.body.data;
    expect(variants.length).toBeGreaterThan(0);
    for (const variant of variants) {
      expect(variant).toEqual({
        sku: variant.sku,
        availability: expect.stringMatching(/^(in_stock|low_stock|out_of_stock|preorder|backorder)$/),
        erpStock: { onHand: variant.sku.length, warehouse: "Rotterdam" },
      });
    }
    expect(erp.requestedSkus.toSorted()).toEqual(variants.map(({ sku }: { sku: string }) => sku).toSorted());
  });

  it("is protected like the contract's operations: credentials, scope, limits, parameters", async () => {
    const before = erp.requestedSkus.length;
    expect((await world.get(stockUrl())).body.error.code).toBe("credentials_missing");
    expect((await world.getWithKey(stockUrl(), "noScope")).body.error).toMatchObject({
      code: "scope_missing",
      details: [{ allowed: ["catalog:read"] }],
    });
    expect((await world.getWithKey(`${stockUrl()}?page=2`, "catalogRead")).body.error.code).toBe(
      "unknown_parameter",
    );
    expect(
      (await world.getWithKey(stockUrl().replace("/stock", "-gone/stock"), "catalogRead")).body.error.code,
    ).toBe("product_not_found");
    expect((await world.getWithKey(stockUrl(), "catalogRead")).headers["ratelimit-policy"]).toBe(
      '"default";q=600;w=60',
    );
    expect(erp.requestedSkus.length - before).toBeGreaterThan(0);
  });

  it("is in the OpenAPI document and in the reference, with the types of both sources", async () => {
    const document = (await world.get("/openapi.json")).body;
    const operation =
      document.paths["/api/v1/catalog/merchants/{merchantSlug}/products/{productSlug}/stock"].get;
    expect(operation).toMatchObject({
      operationId: "getPublicProductStock",
      "x-required-scope": "catalog:read",
    });
    expect(document.components.schemas.ErpStock).toMatchObject({
      description: "The stock of an article, as the ERP counts it.",
      properties: { onHand: { type: ["integer", "null"] }, warehouse: { type: ["string", "null"] } },
    });
    const page = await world.get("/docs/operations/getPublicProductStock", { accept: "text/html" });
    expect([page.status, page.text.includes("getPublicProductStock")]).toEqual([200, true]);
  });

  it("is answered at /graphql, with its cost and by the caller's roles", async () => {
    const query = `{ products(first: 1) { edges { node { variants { sku erpStock { onHand } } } } }
      erpStock(sku: "A-1") { sku warehouse } }`;
    const answer = await world.graphql(query, { token: world.demo.tokens.admin });
    expect(answer.body.errors).toBeUndefined();
    expect(answer.body.data.erpStock).toEqual({ sku: "A-1", warehouse: "Rotterdam" });
    const [variant] = answer.body.data.products.edges[0].node.variants;
    expect(variant.erpStock).toEqual({ onHand: variant.sku.length });
    expect(answer.body.extensions.cost.requested).toBeGreaterThan(0);
    expect((await world.graphql(query, { token: null })).status).toBe(401);
  });

  it("reveals nothing of the source's error if the source fails", async () => {
    const [product] = world.demo.products;
    erp.failsFor = product?.sku;
    const rest = await world.getWithKey(stockUrl(), "catalogRead");
    expect([rest.status, rest.body.error.code]).toEqual([500, "internal_error"]);
    const graph = await world.graphql(`{ erpStock(sku: "${product?.sku}") { onHand } }`, {
      token: world.demo.tokens.admin,
    });
    expect(graph.body.data).toEqual({ erpStock: null });
    expect(graph.body.errors).toMatchObject([{ extensions: { code: "internal_error" } }]);
    expect(`${rest.text}${graph.text}`).not.toContain("ERP-INTERNAL");
    erp.failsFor = undefined;
  });

  it("leaves the contract's operations unchanged", async () => {
    const before = erp.requestedSkus.length;
    const cart = await world.getWithKey(`/api/v1/open/storefront/carts/${world.demo.carts.active}`);
    expect([cart.status, cart.body.data.status]).toEqual([200, "active"]);
    const plain = await createWorld();
    try {
      const contractOf = async ({ get }: World): Promise<Record<string, unknown>> =>
        (await get("/openapi.json")).body.paths;
      const { "/api/v1/catalog/merchants/{merchantSlug}/products/{productSlug}/stock": _added, ...paths } =
        await contractOf(world);
      expect(paths).toEqual(await contractOf(plain));
    } finally {
      await plain[Symbol.asyncDispose]();
    }
    expect(erp.requestedSkus.length).toBe(before);
  });
});
