/**
 * The typed documents of clients/graphql: the generated types belong to the present documents and schema, the
 * files compile, and urql and Apollo Client run the documents against the service.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { createApolloClient, listOrderNumbers } from "../../clients/graphql/src/apollo.ts";
import { createCartFor, createUrqlClient } from "../../clients/graphql/src/urql.ts";

interface UsedTypes {
  readonly findDocuments: (sourceTexts: readonly string[]) => string[];
  readonly listUsedTypes: (schemaText: string, documents: readonly string[]) => string[];
}

const root = join(import.meta.dirname, "../..");
const folder = join(root, "clients/graphql");
const read = (path: string): string => readFileSync(join(folder, path), "utf8");
const world = useWorld();
let url = "";
beforeAll(async () => {
  url = `${await world().app.server.listen({ host: "127.0.0.1", port: 0 })}/graphql`;
});

it("the generated types belong to the present documents and schema", async () => {
  const { findDocuments, listUsedTypes } = (await import(
    join(folder, "scripts/used-types.mjs")
  )) as UsedTypes;
  const documents = findDocuments([read("src/apollo.ts"), read("src/urql.ts")]);
  expect(documents.length).toBeGreaterThan(3);
  expect(
    JSON.parse(read("src/generated/sources.json")),
    "Renew it: npm ci --prefix clients/graphql && npm run generate --prefix clients/graphql",
  ).toEqual({ documents, types: listUsedTypes(read("../../schema/schema.graphql"), documents) });
});

it("codegen.ts has a type for every scalar of the schema", () => {
  const scalars = [...read("../../schema/schema.graphql").matchAll(/^scalar (\w+)/gm)].map(
    ([, name]) => name,
  );
  const mapped = [...read("codegen.ts").matchAll(/^ {10}(\w+): "/gm)].map(([, name]) => name);
  expect(new Set(mapped)).toEqual(new Set([...scalars, "ID"]));
});

it("the documents and their uses compile", async () => {
  const { PATH, HOME } = process.env;
  const { stdout } = await promisify(execFile)(
    join(root, "node_modules/.bin/tsc"),
    ["--noEmit", "--project", folder],
    { env: { PATH, HOME } },
  ).catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});

it("urql creates one cart for one key, and throws the service's errors", async () => {
  const client = createUrqlClient(url, world().demo.tokens.storefront);
  const key = randomUUID();
  const cart = await createCartFor(client, "tent", key);
  expect(cart).toMatchObject({ title: expect.stringMatching(/tent/i), totalMinor: expect.any(Number) });
  expect(await createCartFor(client, "tent", key)).toEqual(cart);
  const stranger = createUrqlClient(url, "cit_storefront_unknown");
  await expect(createCartFor(stranger, "tent", key)).rejects.toMatchObject({
    graphQLErrors: [{ extensions: { code: "api_key_invalid" } }],
  });
});

it("Apollo Client reads all pages of a list", async () => {
  const rows = await world()
    .database.db.selectFrom("salesOrder")
    .select("number")
    .where("merchantId", "=", world().demo.merchants.first.id)
    .orderBy("id", "desc")
    .execute();
  expect(rows.length).toBeGreaterThan(10);
  const client = createApolloClient(url, world().demo.tokens.admin);
  expect(await listOrderNumbers(client)).toEqual(rows.map(({ number }) => number));
});
