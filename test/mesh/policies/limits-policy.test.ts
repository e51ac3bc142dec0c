/** The plugin `limits.ts` limits the cost, the texts and the duration of documents that clients send. */
import { type DocumentNode, type ExecutionResult, parse } from "graphql";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { InternalTokenRole } from "#access/viewer.ts";
import { createFailure } from "#foundation/failure.ts";
import type { GraphqlContextOptions } from "#graph/context.ts";
import { type GraphqlCostCharger, queryCostMax, queryMsMax } from "#graph/limits.ts";
import { requireNoControlCharacters } from "#mesh/clean-text.ts";
import { markAsBuiltInGraphqlDocument } from "#mesh/contract-schema.ts";
import limitsPlugin, {
  getChargedGraphqlCostPoints,
  measureGraphqlQueryCostAndLimit,
  requireQueryCostWithinLimit,
} from "#mesh/plugins/limits.ts";
import { getFailureOfGraphqlError } from "#mesh/public-error.ts";
import {
  createApiKeyViewer,
  createInternalViewer,
  createSmallContext,
  createSmallSchema,
  createSmallServices,
  executeWithPlugins,
} from "./small-graph.ts";

const schema = createSmallSchema();
const item = schema.getQueryType()?.getFields()["item"];
if (item !== undefined) item.extensions = { complexity: ({ id }: { id: string }) => Number(id) };

interface Given extends Partial<GraphqlContextOptions> {
  readonly rootValue?: unknown;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
}

async function execute(document: DocumentNode | string, given: Given = {}) {
  const {
    rootValue = { item: () => ({ id: "1" }), echo: () => "echo" },
    variables,
    operationName,
    ...options
  } = given;
  const { services, events } = createSmallServices();
  const result = await executeWithPlugins([limitsPlugin()], {
    schema,
    document: typeof document === "string" ? parse(document) : document,
    context: createSmallContext(services, { viewer: createInternalViewer("admin"), ...options }),
    rootValue,
    ...(variables === undefined ? {} : { variables }),
    ...(operationName === undefined ? {} : { operationName }),
  });
  return { result, events, failures: failuresOf(result) };
}

const failuresOf = ({ errors = [] }: ExecutionResult) =>
  errors.map((error) => getFailureOfGraphqlError(error));

const withCost = (points: number): string => `{ item(id: "${points - 1}") { id } }`;
const throttleStatus = { maximumAvailable: 100, currentlyAvailable: 40, resetSeconds: 7 };

describe("the cost of a client's document", () => {
  it.each<[role: InternalTokenRole, limit: number]>([
    ["storefront", 4_000],
    ["browser", 4_000],
    ["admin", 20_000],
    ["analyst", 20_000],
    ["operator", 20_000],
  ])("is limited for the role %s to %i points", async (role, limit) => {
    const viewer = createInternalViewer(role);
    const last = await execute(withCost(limit), { viewer });
    expect(last.failures).toEqual([]);
    expect(last.result.extensions).toEqual({ cost: { requested: limit, limit } });
    expect(last.events).toEqual([["documentExecuted", limit]]);
    const next = await execute(withCost(limit + 1), { viewer });
    const message = `The query costs ${limit + 1} points; the limit is ${limit}. Select fewer items or fields.`;
    expect(next.failures).toMatchObject([
      {
        code: "malformed_request",
        message,
        parts: { details: [{ in: "limit", field: "cost", code: "too_large", message }] },
      },
    ]);
    expect([next.result.data, next.result.extensions, next.events]).toEqual([
      undefined,
      { cost: { requested: limit + 1, limit } },
      [],
    ]);
  });

  it("is not limited for other callers and for CSV reports", () => {
    const limitFor = (options: Partial<GraphqlContextOptions>): number =>
      measureGraphqlQueryCostAndLimit({
        schema,
        document: parse(withCost(5)),
        contextValue: createSmallContext(createSmallServices().services, options),
      }).limit;
    expect(limitFor({ viewer: createApiKeyViewer() })).toBe(Number.POSITIVE_INFINITY);
    expect(limitFor({ viewer: createInternalViewer("analyst"), isReportFile: true })).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  it("is taken from the caller's quota before the document runs, at most the maximum cost", async () => {
    const spendCost = vi.fn<GraphqlCostCharger>(async () => ({ throttleStatus, refusal: undefined }));
    const { result } = await execute(withCost(12), { spendCost });
    expect(spendCost.mock.calls).toEqual([[12]]);
    expect(result.extensions).toEqual({ cost: { requested: 12, limit: queryCostMax, throttleStatus } });
    await execute(withCost(queryCostMax + 5), { spendCost, isReportFile: true });
    expect(spendCost).toHaveBeenLastCalledWith(queryCostMax);
    expect(getChargedGraphqlCostPoints({ requested: queryCostMax, limit: 1 })).toBe(queryCostMax);
    await execute(withCost(queryCostMax + 1), { spendCost });
    expect(spendCost).toHaveBeenCalledTimes(2);
  });

  it("refuses the document if the quota has no points left, and shows the quota", async () => {
    const echo = vi.fn<() => string>(() => "echo");
    const refusal = createFailure("rate_limited");
    const { result, failures, events } = await execute("{ echo }", {
      rootValue: { echo },
      spendCost: () => ({ throttleStatus, refusal }),
    });
    expect([failures, events, echo.mock.calls]).toEqual([[refusal], [], []]);
    expect(result.extensions).toEqual({ cost: { requested: 1, limit: queryCostMax, throttleStatus } });
  });

  it("shows no quota in the answer of a mutation, so that a repetition gets the same bytes", async () => {
    const { result } = await execute("mutation { touch { id } }", {
      spendCost: () => ({ throttleStatus, refusal: undefined }),
    });
    expect(result.extensions).toEqual({ cost: { requested: 2, limit: queryCostMax } });
  });

  it("keeps the other extensions of the result", async () => {
    const { services } = createSmallServices();
    const extended = {
      onExecute: ({ setExecuteFn }: { setExecuteFn: (execute: () => object) => void }) =>
        setExecuteFn(() => ({ data: {}, extensions: { other: 1 } })),
    };
    const { extensions } = await executeWithPlugins([extended, limitsPlugin()], {
      schema,
      document: parse("{ echo }"),
      context: createSmallContext(services, { viewer: createInternalViewer("admin") }),
    });
    expect(extensions).toEqual({ other: 1, cost: { requested: 1, limit: queryCostMax } });
  });

  it("counts only the operation that runs", async () => {
    const both = `query Small { echo } query Large ${withCost(queryCostMax + 1)}`;
    expect((await execute(both, { operationName: "Small" })).failures).toEqual([]);
    expect((await execute(both, { operationName: "Large" })).failures).toMatchObject([
      { code: "malformed_request" },
    ]);
  });

  it("with invalid variables is an error of the client, without a cost", async () => {
    const { result } = await execute("query ($id: ID!) { item(id: $id) { id } }", { variables: {} });
    expect(result.errors?.map(({ message }) => message)).toEqual([
      'Variable "$id" of required type "ID!" was not provided.',
    ]);
    expect([result.data, result.extensions]).toEqual([undefined, undefined]);
  });

  it("is not hidden by an error of the cost function", async () => {
    if (item !== undefined)
      item.extensions = {
        complexity: () => {
          throw new TypeError("The cost function has a bug.");
        },
      };
    await expect(execute(withCost(5))).rejects.toThrow("The cost function has a bug.");
    if (item !== undefined) item.extensions = { complexity: ({ id }: { id: string }) => Number(id) };
  });

  it("is not computed for documents of this service, nor without a caller", async () => {
    const document = markAsBuiltInGraphqlDocument(parse(withCost(queryCostMax + 1)), "own");
    const own = await execute(document);
    expect([own.failures, own.result.extensions, own.events]).toEqual([[], undefined, []]);
    const { extensions } = await executeWithPlugins([limitsPlugin()], {
      schema,
      document: parse("{ echo }"),
      context: {} as never,
    });
    expect(extensions).toBeUndefined();
  });

  it("may equal the limit", () => {
    expect(() => requireQueryCostWithinLimit({ requested: 5, limit: 5 })).not.toThrow();
    expect(() => requireQueryCostWithinLimit({ requested: 6, limit: 5 })).toThrow("limit is 5");
  });

  it("is shown with the error that the execution throws", async () => {
    const { services } = createSmallServices();
    const thrown = createFailure("service_unavailable");
    const failing = {
      onExecute: ({ setExecuteFn }: { setExecuteFn: (execute: () => never) => void }) =>
        setExecuteFn(() => {
          throw thrown;
        }),
    };
    const { errors = [], extensions } = await executeWithPlugins([failing, limitsPlugin()], {
      schema,
      document: parse("{ echo }"),
      context: createSmallContext(services, { viewer: createInternalViewer("admin") }),
    });
    expect(errors.map(({ originalError }) => originalError)).toEqual([thrown]);
    expect(extensions).toMatchObject({ cost: { requested: 1 } });
  });
});

describe("the time limit of a client's document", () => {
  afterEach(() => void vi.useRealTimers());

  const runFor = async (text: string, ms: number) => {
    vi.useFakeTimers();
    const slow = (): Promise<unknown> => new Promise((resolve) => setTimeout(() => resolve("late"), ms));
    const running = execute(text, {
      rootValue: { echo: slow, touch: () => slow().then(() => ({ id: "1" })) },
    });
    await vi.advanceTimersByTimeAsync(ms + 1);
    return running;
  };

  it("ends a query that runs longer than 10 s with upstream_timeout", async () => {
    expect((await runFor("{ echo }", queryMsMax - 1)).result.data).toEqual({ echo: "late" });
    const { result, failures } = await runFor("{ echo }", queryMsMax + 1);
    expect(failures).toMatchObject([
      {
        code: "upstream_timeout",
        message: "The query ran longer than the limit of 10 s. Select fewer items or fields.",
      },
    ]);
    expect([result.data, result.extensions]).toMatchObject([undefined, { cost: { requested: 1 } }]);
  });

  // The query waits only for promises: if it waited for a timer, code that earlier test files of the same
  // process left running could create its own timers, and they would be counted too.
  it("leaves no timer when the query has ended", async () => {
    vi.useFakeTimers();
    const counts: number[] = [];
    const echo = async (): Promise<string> => {
      await Promise.resolve();
      counts.push(vi.getTimerCount());
      return "soon";
    };
    const { result } = await execute("{ echo }", { rootValue: { echo } });
    counts.push(vi.getTimerCount());
    expect([result.data, counts]).toEqual([{ echo: "soon" }, [1, 0]]);
  });

  it("does not concern mutations", async () => {
    const { result } = await runFor("mutation { touch { id } }", 3 * queryMsMax);
    expect(result.data).toEqual({ touch: { id: "1" } });
  });

  it("keeps the error of a query that fails earlier", async () => {
    const { services } = createSmallServices();
    const failing = {
      onExecute: ({ setExecuteFn }: { setExecuteFn: (execute: () => object) => void }) =>
        setExecuteFn(() => Promise.reject(createFailure("service_unavailable"))),
    };
    const result = await executeWithPlugins([failing, limitsPlugin()], {
      schema,
      document: parse("{ echo }"),
      context: createSmallContext(services, { viewer: createInternalViewer("admin") }),
    });
    expect(failuresOf(result).map(({ code }) => code)).toEqual(["service_unavailable"]);
  });
});

describe("the texts of a client's document", () => {
  const check = (text: string, variableValues?: Record<string, unknown>): unknown => {
    try {
      requireNoControlCharacters({ document: parse(text), variableValues });
      return undefined;
    } catch (error) {
      return getFailureOfGraphqlError(error as never).parts.details?.[0]?.field;
    }
  };
  const nul = "a\u0000b";

  it("may have no control characters, and no lone surrogates", async () => {
    const { failures, result } = await execute("query ($t: String) { echo(text: $t) }", {
      variables: { t: nul },
    }).catch((error: unknown) => ({ failures: [error], result: {} }));
    const message = "/variables/t has a control character or a lone surrogate.";
    expect(failures).toMatchObject([
      {
        code: "invalid_field",
        message,
        parts: { details: [{ in: "body", field: "/variables/t", code: "control_character", message }] },
      },
    ]);
    expect(result).toEqual({});
    expect(check("query ($t: String) { echo(text: $t) }", { t: "\uD800" })).toBe("/variables/t");
  });

  it("are found in the document, also when it is sent again", () => {
    const text = String.raw`{ first: echo(text: "a\u0000b") second: echo(text: "b") }`;
    expect(check(text)).toBe("/query");
    const document = parse(text);
    for (let round = 0; round < 2; round += 1)
      expect(() => requireNoControlCharacters({ document, variableValues: {} })).toThrow("/query has");
    const clean = parse('{ echo(text: "Grüße") }');
    for (let round = 0; round < 2; round += 1)
      expect(() => requireNoControlCharacters({ document: clean, variableValues: null })).not.toThrow();
  });

  it.each<[value: Record<string, unknown>, field: string | undefined]>([
    [{ a: "x", b: 1, c: null, d: true }, undefined],
    [{ a: { "b/c~d": nul } }, "/variables/a/b~1c~0d"],
    [{ a: { "b/c/d~e~f": nul } }, "/variables/a/b~1c~1d~0e~0f"],
    [{ a: { [nul]: 1 } }, "/variables/a"],
    [{ a: ["x", nul] }, "/variables/a/1"],
    [{ a: [1, null, { b: nul }] }, "/variables/a/2/b"],
    [{ a: [["x"], ["y", nul]] }, "/variables/a/1/1"],
    [{ a: ["x", { b: "y" }, []] }, undefined],
    [{ a: { b: "x" }, c: nul }, "/variables/c"],
  ])("are found in the variables %o at %s", (value, field) => {
    expect(check("{ echo }", value)).toBe(field);
  });
});
