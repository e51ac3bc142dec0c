/** A plugin that is added to `.meshrc.yaml` sees every execution of the service. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSession } from "#test/operations/checkout-calls.ts";
import { temporaryFolderUntil } from "#test/support/process.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { fillMeshFolder } from "./mesh-folder.ts";

interface Seen {
  readonly name: string | undefined;
  readonly errors: readonly string[];
}

const seen: Seen[] = [];
// The plugin is a separate module; the test and the plugin share this global variable.
Object.assign(globalThis, { seenByForeignPlugin: seen });

const plugin = `import { getOperationAST } from "graphql";
const shared = globalThis as unknown as Record<string, { name: unknown; errors: string[] }[]>;
export default ({ label }: { label: string }) => ({
  onExecute({ args }: { args: { document: never; operationName?: string } }) {
    const name = getOperationAST(args.document, args.operationName)?.name?.value;
    return {
      onExecuteDone({ result }: { result: { errors?: { extensions: { code: string } }[] } }) {
        const errors = (result.errors ?? []).map(({ extensions }) => extensions.code);
        shared[label]?.push({ name, errors });
      },
    };
  },
  onValidate({ params }: { params: { documentAST: never } }) {
    const name = "validated " + getOperationAST(params.documentAST)?.name?.value;
    shared[label]?.push({ name, errors: [] });
  },
});
`;

describe("a foreign plugin in .meshrc.yaml", () => {
  let world: World;
  const folder = temporaryFolderUntil(afterAll);
  beforeAll(async () => {
    const change = (text: string): string =>
      text.replace("cache:\n", "  - ./foreign.ts: { label: seenByForeignPlugin }\ncache:\n");
    world = await createWorld("postgres", {
      meshFolder: fillMeshFolder(folder, change, { "foreign.ts": plugin }),
    });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  async function seenOf(work: () => Promise<unknown>): Promise<Seen[]> {
    seen.length = 0;
    await work();
    return [...seen];
  }

  const put = (path: string, body: object): Promise<unknown> =>
    world.send({
      method: "PUT",
      url: `/api/v1/open/storefront/carts/${world.demo.carts.active}${path}`,
      headers: { authorization: `Bearer ${world.demo.keys.full}`, "idempotency-key": crypto.randomUUID() },
      body,
    });

  it("sees each execution of a trusted document, and its validation at the first", async () => {
    const document = "query TrustedRole { viewer { role } }";
    const { body } = await world.graphql(
      "mutation Register($input: TrustedDocumentsRegisterInput!) { trustedDocumentsRegister(input: $input) { " +
        "documents { sha256 } } }",
      { variables: { input: { documents: [{ document }] } } },
    );
    const { sha256 } = body.data.trustedDocumentsRegister.documents[0];
    const run = () =>
      world.send({
        method: "POST",
        url: "/graphql",
        headers: { authorization: `Bearer ${world.demo.tokens.admin}` },
        body: { documentId: `sha256:${sha256}` },
      });
    const executed = { name: "TrustedRole", errors: [] };
    expect(await seenOf(run)).toEqual([{ name: "validated TrustedRole", errors: [] }, executed]);
    expect(await seenOf(run)).toEqual([executed]);
  });

  it("sees REST reads and searches execute", async () => {
    expect(
      await seenOf(() => world.getWithKey(`/api/v1/open/storefront/carts/${world.demo.carts.active}`)),
    ).toEqual([{ name: "getPublicCart", errors: [] }]);
    const search = "/api/v1/search?q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=1";
    expect(await seenOf(() => world.get(search))).toEqual([{ name: "searchPublicProducts", errors: [] }]);
  });

  it("sees a REST change execute, and the events that it writes", async () => {
    const names = (await seenOf(() => put("/promotion", { code: world.demo.promotionCodes.percentage }))).map(
      ({ name }) => name,
    );
    expect(names).toContain("applyPublicCartPromotion");
    expect(names).toContain("cart");
  });

  it("sees refusals with the contract's codes", async () => {
    const refused = await seenOf(() => put("/promotion", { code: "NO-SUCH-CODE" }));
    expect(refused).toEqual([{ name: "applyPublicCartPromotion", errors: ["promotion_code_not_found"] }]);
  });

  it("sees documents of /graphql validated and executed once each", async () => {
    const ask = (): Promise<unknown> =>
      world.graphql("query Mine { viewer { __typename } }", { token: world.demo.tokens.admin });
    expect(await seenOf(ask)).toEqual([
      { name: "validated Mine", errors: [] },
      { name: "Mine", errors: [] },
    ]);
  });

  it("sees CSV reports execute", async () => {
    const report = await seenOf(() =>
      world.get("/reports/sales.csv?from=2026-01-01&to=2026-01-02", {
        authorization: `Bearer ${world.demo.tokens.analyst}`,
      }),
    );
    expect(report.length).toBe(1);
  });

  it("sees the documents of the checkout page execute", async () => {
    const { url } = await makeSession(world);
    const names = (await seenOf(() => world.get(new URL(url).pathname, { accept: "text/html" }))).map(
      ({ name }) => name,
    );
    expect(names).toContain("CheckoutPage");
  });
});
