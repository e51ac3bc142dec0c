/**
 * The plugin `reuse.ts` reuses a kept result only for the same query of the same caller, while the object is
 * the same and until the result changes by itself.
 */
import { type DocumentNode, type ExecutionResult, isObjectType, parse } from "graphql";
import { describe, expect, it, vi } from "vitest";
import type { Clock } from "#foundation/clock.ts";
import { createLimitedMemory } from "#foundation/limited-memory.ts";
import type { GraphqlContext, GraphqlContextOptions } from "#graph/context.ts";
import { createKeptGraphqlResults } from "#graph/kept-result-memory.ts";
import type { KeptResultSource } from "#graph/kept-results.ts";
import { markAsBuiltInGraphqlDocument } from "#mesh/contract-schema.ts";
import reusePlugin from "#mesh/plugins/reuse.ts";
import {
  createApiKeyViewer,
  createInternalViewer,
  createOauthViewer,
  createSmallContext,
  createSmallSchema,
  createSmallServices,
  executeWithPlugins,
} from "./small-graph.ts";

const shown = markAsBuiltInGraphqlDocument(
  parse("query ($id: ID!) { shown: item(id: $id) { id name } }"),
  "own",
);
const renamed = markAsBuiltInGraphqlDocument(
  parse("query ($id: ID!) { shown: item(id: $id) { name } }"),
  "own",
);

type Given = Partial<GraphqlContextOptions> & { readonly id?: unknown; readonly document?: DocumentNode };

/** Creates an object that queries read, a memory of results, and a function that queries the object. */
function createShop() {
  const schema = createSmallSchema();
  const state: ObjectState = { now: 1_000, object: { name: "first" }, validUntil: null };
  const load = vi.fn<KeptResultSource>(async () => {
    if (state.isFailing === true) throw new Error("The row cannot be read.");
    return state.object && { object: state.object, findTimeOfNextChange: () => state.validUntil };
  });
  const root = schema.getQueryType()?.getFields()["item"];
  if (root !== undefined) root.extensions = { keptResultSource: load };
  const type = schema.getType("Item");
  if (isObjectType(type))
    for (const field of Object.values(type.getFields())) field.extensions = { pothosOptions: {} } as never;
  const keptResults = createKeptGraphqlResults(createLimitedMemory(1_000_000));
  const clock: Clock = { now: () => new Date(state.now) };
  const { services, events } = createSmallServices({ keptResults, clock });
  let executions = 0;
  const item = (): object | null => {
    executions += 1;
    const result = state.isHidden === true ? null : state.object && { id: "itm_1", ...state.object };
    state.afterExecution?.();
    return result;
  };
  const query = (given: Given = {}): Promise<ExecutionResult> => {
    const { id = "itm_1", document = shown, ...options } = given;
    return executeWithPlugins([reusePlugin()], {
      schema,
      document,
      context: createSmallContext(services, { viewer: createApiKeyViewer("catalog:read"), ...options }),
      rootValue: { item, echo: () => "echo" },
      variables: { id },
    });
  };
  return { state, query, load, events, schema, services, countExecutions: () => executions };
}

interface ObjectState {
  now: number;
  object: { name: string | (() => never) } | null;
  validUntil: Date | null;
  isFailing?: boolean;
  /** True if the resolver shows the object to no caller. */
  isHidden?: boolean;
  afterExecution?: () => void;
}

const first = { data: { shown: { id: "itm_1", name: "first" } } };

describe("a kept result", () => {
  it("answers the next query of the same caller, and counts the use", async () => {
    const shop = createShop();
    expect(await shop.query()).toEqual(first);
    expect(await shop.query({ operationId: "readItem" })).toEqual(first);
    expect(shop.countExecutions()).toBe(1);
    expect(shop.events).toEqual([
      ["responseCacheUsed", "graphql", false],
      ["responseCacheUsed", "readItem", true],
    ]);
  });

  it("is frozen with all its parts", async () => {
    const shop = createShop();
    await shop.query();
    const { data } = await shop.query();
    expect([data, data?.["shown"]].every((part) => Object.isFrozen(part))).toBe(true);
  });

  const viewer = createApiKeyViewer("catalog:read");
  it.each<[name: string, given: Given]>([
    ["another id", { id: "itm_2" }],
    ["another document", { document: renamed }],
    ["another key", { viewer: { ...viewer, apiKeyId: "key_2" } }],
    ["another installation", { viewer: { ...viewer, installationId: "ins_2" } }],
    ["fewer scopes", { viewer: createApiKeyViewer() }],
    ["an OAuth token", { viewer: createOauthViewer("catalog:read") }],
    ["an internal token", { viewer: createInternalViewer("admin") }],
    ["another role", { viewer: createInternalViewer("analyst") }],
    ["no credential", { viewer: { kind: "anonymous" } }],
    ["another buyer", { buyerReference: "buyer-2" }],
    ["another buyer session", { buyerSessionId: "bse_2" }],
  ])("does not answer a request with %s", async (_name, given) => {
    const shop = createShop();
    await shop.query();
    await shop.query({ viewer: createInternalViewer("operator") });
    await shop.query(given);
    expect(shop.countExecutions()).toBe(3);
  });

  it("does not answer when the object has changed, is away or cannot be read", async () => {
    const shop = createShop();
    await shop.query();
    shop.state.object = { name: "second" };
    expect(await shop.query()).toEqual({ data: { shown: { id: "itm_1", name: "second" } } });
    shop.state.object = null;
    expect(await shop.query()).toEqual({ data: { shown: null } });
    expect(await shop.query()).toEqual({ data: { shown: null } });
    expect(shop.countExecutions()).toBe(4);
    shop.state.object = { name: "third" };
    await shop.query();
    shop.state.isFailing = true;
    await shop.query();
    await shop.query();
    expect(shop.countExecutions()).toBe(7);
  });

  it("answers until the object changes by itself, and not before the time of its rendering", async () => {
    const shop = createShop();
    shop.state.validUntil = new Date(2_000);
    await shop.query();
    shop.state.now = 1_999;
    await shop.query();
    expect(shop.countExecutions()).toBe(1);
    shop.state.now = 2_000;
    await shop.query();
    expect(shop.countExecutions()).toBe(2);
    shop.state.validUntil = null;
    shop.state.now = 999;
    await shop.query();
    expect(shop.countExecutions()).toBe(3);
    shop.state.now = 998;
    await shop.query();
    expect(shop.countExecutions()).toBe(4);
  });

  it("is not kept if the object changes by itself while the query runs", async () => {
    const shop = createShop();
    shop.state.validUntil = new Date(2_000);
    shop.state.afterExecution = () => void (shop.state.now = 2_000);
    await shop.query();
    shop.state.now = 1_000;
    await shop.query();
    expect(shop.countExecutions()).toBe(2);
  });

  it("is not a result with errors or without the object", async () => {
    const shop = createShop();
    shop.state.object = {
      name: () => {
        throw new Error("The name cannot be read.");
      },
    };
    const failed = await shop.query();
    expect(failed.errors).toHaveLength(1);
    expect(Object.isFrozen(failed)).toBe(false);
    await shop.query();
    expect(shop.countExecutions()).toBe(2);
  });

  it("is not the result of a caller who may not read the object, and nothing is loaded for this caller", async () => {
    const shop = createShop();
    shop.state.isHidden = true;
    for (let count = 1; count <= 2; count += 1) {
      const result = await shop.query();
      expect(result).toEqual({ data: { shown: null } });
      expect([Object.isFrozen(result), shop.countExecutions()]).toEqual([false, count]);
    }
    expect(shop.load).not.toHaveBeenCalled();
  });

  it("is loaded only for a caller who has got it before", async () => {
    const shop = createShop();
    await shop.query();
    expect(shop.load).toHaveBeenCalledTimes(1);
    await shop.query();
    expect(shop.load).toHaveBeenCalledTimes(2);
    expect(shop.load.mock.calls[0]?.[0]).toBe("itm_1");
  });
});

describe("a query", () => {
  it("without an id, of the service itself, without a memory or of another kind is executed each time", async () => {
    const shop = createShop();
    const other = markAsBuiltInGraphqlDocument(parse("query ($id: ID!) { echo(text: $id) }"), "own");
    const text = parse("query ($id: ID!) { shown: item(id: $id) { id name } }");
    const givens: Given[] = [
      { id: 5 },
      { viewer: { kind: "system", merchantId: "mer_1" } },
      { document: other },
      { document: text },
    ];
    for (const given of givens) {
      await shop.query(given);
      await shop.query(given);
    }
    expect([shop.countExecutions(), shop.events]).toEqual([6, []]);
    const { keptResults: _, ...services } = shop.services;
    for (const context of [createSmallContext(services, {}), {}])
      expect(
        await executeWithPlugins([reusePlugin()], {
          schema: shop.schema,
          document: shown,
          context: context as GraphqlContext,
          rootValue: { item: { id: "itm_1", name: "first" } },
          variables: { id: "itm_1" },
        }),
      ).toEqual(first);
  });
});
