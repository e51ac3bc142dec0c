/**
 * The policies that are Mesh plugins apply to every way of executing a document, and docs/mesh.md names the
 * place of each policy.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DocumentNode, getOperationAST, parse } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import type { ApiKeyViewer, Viewer } from "#access/viewer.ts";
import { restRequestSteps } from "#gateway/operations.ts";
import { createGraphqlContext } from "#graph/context.ts";
import { type OpenedMesh, openGraphqlMesh } from "#mesh/open-mesh.ts";
import { getFailureOfGraphqlError } from "#mesh/public-error.ts";
import { temporaryFolderUntil } from "#test/support/process.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { fillMeshFolder, sectionOf } from "./mesh-folder.ts";

const root = new URL("../../", import.meta.url).pathname;

describe("an operation's document, executed without the gateway", () => {
  let world: World;
  let mesh: OpenedMesh;
  beforeAll(async () => {
    world = await createWorld();
    mesh = await openGraphqlMesh();
  });
  afterAll(async () => {
    mesh.close();
    await world[Symbol.asyncDispose]();
  });

  const documentOf = (name: string): DocumentNode => {
    const document = mesh.operations.find((one) => getOperationAST(one)?.name?.value === name);
    if (document === undefined) throw new Error(`There is no operation ${name}.`);
    return document;
  };

  async function run(
    document: DocumentNode,
    viewer: Viewer,
    variables: Record<string, unknown>,
  ): Promise<{ data: unknown; codes: string[] }> {
    world.statements.length = 0;
    const { data, errors = [] } = await mesh.run(
      document,
      createGraphqlContext(world.app.services, { viewer, requestId: "req_policies" }),
      { variables },
    );
    return { data, codes: errors.map((error) => getFailureOfGraphqlError(error).code) };
  }

  const keyWith = async (key: "full" | "noScope" | "webhooksRead" | "catalogRead"): Promise<ApiKeyViewer> =>
    world.app.credentials.apiKey(world.demo.keys[key]);

  it("answers a caller with the scope", async () => {
    const { data, codes } = await run(documentOf("getPublicCart"), await keyWith("catalogRead"), {
      cartId: world.demo.carts.active,
    });
    expect([codes, (data as { data: { status: string } }).data.status]).toEqual([[], "active"]);
  });

  it("refuses a caller without the scope, and runs no statement", async () => {
    for (const key of ["noScope", "webhooksRead"] as const) {
      const { data, codes } = await run(documentOf("getPublicCart"), await keyWith(key), {
        cartId: world.demo.carts.active,
      });
      expect([data, codes]).toEqual([undefined, ["scope_missing"]]);
      expect(world.statements).toEqual([]);
    }
  });

  it("refuses anonymous callers and callers with internal tokens", async () => {
    const variables = { cartId: world.demo.carts.active };
    const admin = await world.app.credentials.internalToken(world.demo.tokens.admin);
    expect((await run(documentOf("getPublicCart"), { kind: "anonymous" }, variables)).codes).toEqual([
      "credentials_missing",
    ]);
    expect((await run(documentOf("getPublicCart"), admin, variables)).codes).toEqual(["role_not_allowed"]);
    expect((await run(documentOf("describeOAuthAuthorization"), await keyWith("full"), {})).codes).toEqual([
      "oauth_token_invalid",
    ]);
  });

  it("requires the same scope for a new document with the operation's directives", async () => {
    const text = `query own($cartId: ID!) @rest(method: GET, path: "/x", tag: "x", response: "X")
      @requires(scope: "catalog:read") {
      data: cart(id: $cartId) { id } }`;
    expect(
      (await run(parse(text), await keyWith("noScope"), { cartId: world.demo.carts.active })).codes,
    ).toEqual(["scope_missing"]);
  });

  it("refuses an idempotent change without a key, and runs no statement", async () => {
    const variables = {
      cartId: world.demo.carts.active,
      body: { code: world.demo.promotionCodes.percentage },
    };
    expect(
      (await run(documentOf("applyPublicCartPromotion"), await keyWith("full"), variables)).codes,
    ).toEqual(["idempotency_key_required"]);
    expect(world.statements).toEqual([]);
  });

  it("refuses a document with invalid directives as malformed_request", async () => {
    const text =
      'query own @rest(method: GET, path: "/x", tag: "x", response: "X") { viewer { __typename } }';
    expect((await run(parse(text), await keyWith("full"), {})).codes).toEqual(["malformed_request"]);
  });

  it("is refused without a caller, with the contract's error and without a stack", async () => {
    const { errors } = await mesh.run(documentOf("searchPublicProducts"), {} as never, { variables: {} });
    const [error] = JSON.parse(JSON.stringify(errors)) as { extensions: Record<string, unknown> }[];
    expect(error?.extensions).toMatchObject({ code: "credentials_missing", retryable: false });
    expect(JSON.stringify(error)).not.toMatch(/stack|\.ts:/);
  });
});

describe("a plugin in the configuration", () => {
  let world: World;
  const folder = temporaryFolderUntil(afterAll);
  beforeAll(async () => {
    world = await createWorld("postgres", {
      meshFolder: fillMeshFolder(folder, (text) => text.replace("cache:\n", "  - ./added.ts: {}\ncache:\n"), {
        "added.ts": addedPlugin,
      }),
    });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it("cannot answer a caller without the scope by stopping the execution", async () => {
    const context = createGraphqlContext(world.app.services, {
      viewer: { kind: "anonymous" },
      requestId: "req_stopped",
    });
    const mesh = await openGraphqlMesh(folder);
    const document = mesh.operations.find((one) => getOperationAST(one)?.name?.value === "getPublicCart");
    const { data, errors = [] } = await mesh.run(
      document ?? parse("{ __typename }"),
      { ...context, languages: ["stop"] },
      { variables: { cartId: "x" } },
    );
    expect([data, errors.map((error) => getFailureOfGraphqlError(error).code)]).toEqual([
      undefined,
      ["credentials_missing"],
    ]);
    mesh.close();
  });

  it.each(["hook", "executor"])("reveals nothing of an error that its %s throws", async (place) => {
    const cart = `/api/v1/open/storefront/carts/${world.demo.carts.active}`;
    const rest = await world.getWithKey(cart);
    const graph = await world.graphql(`query Throw_${place} { viewer { __typename } }`, {
      token: world.demo.tokens.admin,
    });
    expect([
      graph.body.errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code),
      rest.status,
    ]).toEqual([["internal_error"], 200]);
    expect(graph.text).not.toContain("SECRET");
  });
});

const addedPlugin = `import { getOperationAST, GraphQLError } from "graphql";
export default () => ({
  onExecute({ args, setExecuteFn, setResultAndStopExecution }: any) {
    const name = getOperationAST(args.document, args.operationName)?.name?.value;
    if (args.contextValue.languages?.[0] === "stop") setResultAndStopExecution({ data: { data: "SECRET" } });
    if (name === "Throw_hook") throw new GraphQLError("SECRET of a hook");
    if (name === "Throw_executor") setExecuteFn(() => { throw new GraphQLError("SECRET of an executor"); });
  },
});
`;

describe("the table of policies in docs/mesh.md", () => {
  it("names every step of the gateway and every plugin of .meshrc.yaml", () => {
    const table =
      /<!-- policies -->(?<rows>[\s\S]*)<!-- \/policies -->/.exec(
        sectionOf("mesh.md", "Where each policy is implemented"),
      )?.groups?.["rows"] ?? "";
    const rows = [...table.matchAll(/^\| (?<policy>[^|]+?) *\| (?<where>[^|]+?) *\|$/gm)].map(
      ({ groups = {} }) => [groups["policy"], groups["where"]],
    );
    const { plugins } = parseYaml(readFileSync(join(root, ".meshrc.yaml"), "utf8")) as {
      plugins: Record<string, unknown>[];
    };
    const ofGateway = restRequestSteps.map(({ name, phase }) => [
      name,
      phase === "headers" ? "gateway, before the body" : "gateway, with the body",
    ]);
    const ofMesh = plugins.map((plugin) => {
      const path = Object.keys(plugin)[0]?.replace("./", "") ?? "";
      return [/(?<name>\w+)\.ts$/.exec(path)?.groups?.["name"], `Mesh, \`${path}\``];
    });
    expect(rows.slice(2)).toEqual([...ofGateway, ...ofMesh]);
  });

  it("is complete: only src/mesh executes documents", () => {
    const executors =
      /import (?!type)[^;]*\b(?:execute|executeSync|graphql|subscribe|normalizedExecutor|compileQuery)\b[^;]* from "(?:graphql|graphql-jit|@graphql-tools\/executor)"/;
    const found = globSync("src/**/*.ts", { cwd: root }).filter((path) =>
      executors.test(readFileSync(join(root, path), "utf8")),
    );
    expect(found.toSorted()).toEqual([
      "src/mesh/compiled-query.ts",
      "src/mesh/contract-schema.ts",
      "src/mesh/plugins/executor.ts",
    ]);
  });
});
