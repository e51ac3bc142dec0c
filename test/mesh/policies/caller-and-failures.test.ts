/** The plugins `caller.ts` and `failures.ts` find the caller under `mesh dev`, and convert all errors. */
import { GraphQLError, parse } from "graphql";
import { describe, expect, it, vi } from "vitest";
import { createFailure } from "#foundation/failure.ts";
import { markAsBuiltInGraphqlDocument } from "#mesh/contract-schema.ts";
import callerPlugin from "#mesh/plugins/caller.ts";
import failuresPlugin from "#mesh/plugins/failures.ts";
import {
  createApiKeyViewer,
  createInternalViewer,
  createSmallContext,
  createSmallSchema,
  createSmallServices,
  executeWithPlugins,
} from "./small-graph.ts";

describe("the caller under mesh dev", () => {
  const find = async (
    context: object,
    createContext = async (): Promise<object> => ({ viewer: "found" }),
  ) => {
    const importFn = vi.fn<(path: string) => Promise<object>>(async () => ({
      createGraphqlContextForMeshDev: createContext,
    }));
    const extendContext = vi.fn<(extension: object) => void>();
    const plugin = callerPlugin({ contexts: "./contexts.ts", baseDir: "/shop", importFn: importFn as never });
    await plugin.onContextBuilding?.({ context, extendContext } as never);
    expect(plugin.isOnlyForMeshDev).toBe(true);
    return { imports: importFn.mock.calls, extensions: extendContext.mock.calls };
  };
  const headers = { authorization: "Bearer token" };

  it("is found by the header Authorization", async () => {
    const createContext = vi.fn<(authorization?: string) => Promise<object>>(async () => ({
      viewer: "found",
    }));
    expect(await find({ headers }, createContext)).toEqual({
      imports: [["/shop/contexts.ts"]],
      extensions: [[{ viewer: "found" }]],
    });
    expect(createContext.mock.calls).toEqual([["Bearer token"]]);
  });

  it("is not searched with a known viewer, or without the header", async () => {
    for (const context of [{ headers, viewer: { kind: "anonymous" } }, { headers: {} }, {}])
      expect(await find(context)).toEqual({ imports: [], extensions: [] });
  });

  it("is refused with the failure of the credentials", async () => {
    const failure = createFailure("credentials_malformed");
    expect((await find({ headers }, () => Promise.reject(failure))).extensions).toEqual([
      [{ refusal: failure }],
    ]);
    expect((await find({ headers }, () => Promise.reject(new Error("secret")))).extensions).toMatchObject([
      [{ refusal: { code: "internal_error" } }],
    ]);
  });
});

describe("the errors of a document", () => {
  const schema = createSmallSchema();
  const { services } = createSmallServices();
  const execute = (
    text: string,
    { isOwn = false, context = createSmallContext(services, {}), run = (): unknown => "echo" } = {},
  ) =>
    executeWithPlugins([failuresPlugin()], {
      schema,
      document: isOwn ? markAsBuiltInGraphqlDocument(parse(text), "own") : parse(text),
      context,
      rootValue: { echo: run },
      variables: { color: "RAD" },
    });
  const withUnknownColor = "query ($color: Color) { color(color: $color) }";

  it("have the error body of the API", async () => {
    const failure = createFailure("cart_not_found");
    const { errors = [], data } = await execute("{ echo }", {
      run: () => {
        throw failure;
      },
    });
    expect(data).toEqual({ echo: null });
    expect(errors[0]?.path).toEqual(["echo"]);
    expect(errors[0]?.extensions).toMatchObject({
      code: "cart_not_found",
      requestId: "req_1",
      docUrl: expect.stringContaining("https://shop.example/"),
    });
    expect(await execute("{ echo }")).toEqual({ data: { echo: "echo" } });
    expect(await execute("{ echo }", { run: async () => "later" })).toEqual({ data: { echo: "later" } });
  });

  it("reveal no message of a resolver or of the executor", async () => {
    const fail = (error: unknown) => (): never => {
      throw error;
    };
    for (const thrown of [new Error("secret"), new GraphQLError("secret")]) {
      const { errors = [] } = await execute("{ echo }", { run: fail(thrown) });
      expect(errors.map(({ extensions }) => extensions["code"])).toEqual(["internal_error"]);
      expect(JSON.stringify(errors)).not.toContain("secret");
    }
    for (const executor of [fail(new Error("secret")), () => Promise.reject(new Error("secret"))]) {
      const plugin = {
        onExecute: ({ setExecuteFn }: { setExecuteFn: (run: () => unknown) => void }) =>
          setExecuteFn(executor),
      };
      const result = await executeWithPlugins([plugin, failuresPlugin()], {
        schema,
        document: parse("{ echo }"),
        context: createSmallContext(services, {}),
      });
      expect(result.errors?.map(({ extensions }) => extensions["code"])).toEqual(["internal_error"]);
      expect([JSON.stringify(result).includes("secret"), "data" in result]).toEqual([false, false]);
    }
  });

  it("name the allowed values only to internal tokens that may read the whole schema", async () => {
    const messageFor = async (viewer: Parameters<typeof createSmallContext>[1]["viewer"]) => {
      const { errors } = await execute(withUnknownColor, {
        context: createSmallContext(services, viewer === undefined ? {} : { viewer }),
      });
      return JSON.stringify(errors?.map(({ message, extensions }) => [message, extensions["details"]]));
    };
    expect(await messageFor(createInternalViewer("admin"))).toContain("RED");
    expect(await messageFor(createInternalViewer("storefront"))).not.toContain("RED");
    expect(await messageFor(createApiKeyViewer())).not.toContain("RED");
  });

  it("are internal errors in a document of this service", async () => {
    const { errors } = await execute(withUnknownColor, { isOwn: true });
    expect(errors?.map(({ extensions }) => extensions["code"])).toEqual(["internal_error"]);
  });

  it("have an empty request id under mesh dev", async () => {
    const { errors } = await execute("{ echo }", {
      context: {} as never,
      run: () => {
        throw createFailure("cart_not_found");
      },
    });
    expect(errors?.[0]?.extensions).toMatchObject({ requestId: "", docUrl: expect.stringMatching(/^\//) });
  });
});
