/** A deprecated operation announces its end to clients, in the reference and to agents. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildSchema, parse } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildRestOperationsAndSchemas } from "#gateway/contract.ts";
import { connectMcpClient } from "#test/mcp/mcp-client.ts";
import { fillMeshFolder } from "#test/mesh/mesh-folder.ts";
import { temporaryFolderUntil } from "#test/support/process.ts";
import { createWorld, publicUrl, type World } from "#test/support/world.ts";
import { pageAt, textOf } from "#test/web/docs/docs-pages.ts";

const documents = new URL("../../schema/operations/", import.meta.url).pathname;
const deprecated = `@deprecation(
  since: "2027-02-01"
  sunset: "2028-02-01"
  instead: "Use listApiKeyCatalogProducts."
)
@anonymous(bucket: "anon-search")`;
const searchPath = "/api/v1/search?q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=1";
const headers = {
  deprecation: "@1801440000",
  sunset: "Tue, 01 Feb 2028 00:00:00 GMT",
  link: `<${publicUrl}/docs/operations/searchPublicProducts>; rel="deprecation sunset"; type="text/html"`,
};

/** The project with `@deprecation` in the document of searchPublicProducts. */
describe("a deprecated operation", () => {
  let world: World;
  const folder = temporaryFolderUntil(afterAll);
  beforeAll(async () => {
    const paths = readdirSync(documents, { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".graphql"),
    );
    const copies = paths.map((path): [string, string] => {
      const text = readFileSync(join(documents, path), "utf8");
      return [
        path.split("/").at(-1) ?? "",
        path.endsWith("searchPublicProducts.graphql")
          ? text.replace('@anonymous(bucket: "anon-search")', deprecated)
          : text,
      ];
    });
    fillMeshFolder(
      folder,
      (configuration) => configuration.replace("schema/operations/**/*.graphql", "*.graphql"),
      Object.fromEntries(copies),
    );
    world = await createWorld("postgres", { meshFolder: folder });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it("has Deprecation and Sunset in answers and refusals, and other operations do not", async () => {
    const found = await world.get(searchPath);
    expect(found).toMatchObject({ status: 200, headers });
    expect(await world.get("/api/v1/search")).toMatchObject({ status: 400, headers });
    const other = await world.getWithKey("/api/v1/open/identity");
    for (const name of Object.keys(headers)) expect(other.headers).not.toHaveProperty(name);
  });

  const sentence = "Deprecated since 2027-02-01, ends on 2028-02-01. Use listApiKeyCatalogProducts.";

  it("is marked in the OpenAPI document and in the reference", async () => {
    const { body: document } = await world.get("/openapi.json");
    const operation = document.paths["/api/v1/search"].get;
    expect(operation).toMatchObject({ deprecated: true, description: expect.stringContaining(sentence) });
    for (const name of ["Deprecation", "Sunset"]) {
      expect(operation.responses["200"].headers).toHaveProperty(name);
      expect(document.components.headers[name].description).toContain("RFC");
    }
    expect(document.paths["/api/v1/open/identity"].get).not.toHaveProperty("deprecated");
    const page = await pageAt(world, "/docs/operations/searchPublicProducts");
    expect(page).toContain('<span class="badge warn">deprecated</span>');
    expect(textOf(page).replaceAll(/\s+/g, " ")).toContain(sentence);
    expect(await pageAt(world, "/docs/operations/getApiKeyIdentity")).not.toContain("deprecated</span>");
  });

  it("is marked in the tool of agents", async () => {
    const client = await connectMcpClient(world);
    const { tools } = await client.listTools();
    await client.close();
    const marked = tools.filter(({ description }) => description?.includes("Deprecated since") === true);
    expect(marked.map(({ name }) => name)).toEqual(["searchPublicProducts"]);
    expect(marked[0]?.description).toContain(sentence);
  });
});

describe("a deprecation", () => {
  const bindings = readFileSync(new URL("../../schema/rest.graphql", import.meta.url), "utf8");
  const schema = buildSchema(`${bindings} type Query { ping: Boolean }`);
  const build = (stability: string, since: string, sunset: string) =>
    buildRestOperationsAndSchemas(schema, [
      parse(`query x @rest(method: GET, path: "/x", tag: "X", response: "X", stability: ${stability})
        @deprecation(since: "${since}", sunset: "${sunset}", instead: "Use y.")
        @anonymous(bucket: "anon-read") { data: ping }`),
    ]);

  it("must leave 365 days for stable and 30 days for candidate operations", () => {
    expect(() => build("STABLE", "2027-01-01", "2027-12-31")).toThrow(
      "x: the sunset of a stable operation must be at least 365 days after its deprecation.",
    );
    expect(() => build("CANDIDATE", "2027-01-01", "2027-01-30")).toThrow("at least 30 days");
    expect(build("STABLE", "2027-01-01", "2028-01-01").operations).toHaveLength(1);
    expect(build("CANDIDATE", "2027-01-01", "2027-01-31").operations).toHaveLength(1);
  });

  it("must have dates that exist", () => {
    for (const day of ["2027-02-30", "2027-1-1", "soon"])
      expect(() => build("STABLE", day, "2029-01-01")).toThrow(
        "x: the dates of @deprecation must have the form YYYY-MM-DD.",
      );
  });
});
