/** The hooks of an execution are called as Envelop calls them. Each case runs with both implementations. */
import { envelop } from "@envelop/core";
import { buildSchema, type ExecutionArgs, type ExecutionResult, parse } from "graphql";
import type { Plugin } from "graphql-yoga";
import { describe, expect, it } from "vitest";
import { createGraphqlExecutorWithPluginHooks } from "#mesh/run.ts";

type Calls = string[];
type Case = (calls: Calls) => Plugin[];

const later = <Value>(value: Value): Promise<Value> =>
  new Promise((resolve) => setTimeout(() => resolve(value), 1));

const executor = (calls: Calls): Plugin => ({
  onExecute: ({ setExecuteFn }) =>
    setExecuteFn(({ contextValue }: ExecutionArgs) => {
      calls.push(`executed with ${JSON.stringify(contextValue)}`);
      return { data: { value: 1 } };
    }),
});

const noting = (calls: Calls, name: string): Plugin => ({
  onExecute: ({ args }) => {
    calls.push(`${name} before ${args.operationName}`);
    return { onExecuteDone: ({ result }) => void calls.push(`${name} after ${JSON.stringify(result)}`) };
  },
});

const cases: Readonly<Record<string, Case>> = {
  "in their order, before and after": (calls) => [
    executor(calls),
    noting(calls, "first"),
    noting(calls, "second"),
  ],
  "each wrapping the executor that is set": (calls) => [
    executor(calls),
    {
      onExecute: ({ executeFn, setExecuteFn }) =>
        setExecuteFn((args: ExecutionArgs) => ({
          ...(executeFn as (args: ExecutionArgs) => ExecutionResult)(args),
          extensions: { wrapped: 1 },
        })),
    },
    noting(calls, "outside"),
  ],
  "until one stops the execution": (calls) => [
    executor(calls),
    noting(calls, "before the stop"),
    { onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution({ data: { stopped: true } }) },
    noting(calls, "after the stop"),
  ],
  "with what they add to the context": (calls) => [
    executor(calls),
    { onExecute: ({ extendContext }) => extendContext({ added: "here" } as object) },
    noting(calls, "last"),
  ],
  "with the result that the one before has set": (calls) => [
    executor(calls),
    {
      onExecute: () => ({
        onExecuteDone: ({ result, setResult }) =>
          setResult({ ...(result as ExecutionResult), extensions: { changed: 1 } }),
      }),
    },
    noting(calls, "last"),
  ],
  "also where a hook is asynchronous": (calls) => [
    executor(calls),
    {
      onExecute: () =>
        later({
          onExecuteDone: ({ setResult }: { setResult: (result: ExecutionResult) => void }) =>
            later(setResult({ data: { late: 1 } })),
        }),
    },
    noting(calls, "last"),
  ],
};

describe("the hooks of an execution", () => {
  const args = (): ExecutionArgs => ({
    schema: buildSchema("type Query { value: Int }"),
    document: parse("query Mine { value }"),
    operationName: "Mine",
    contextValue: { given: 1 },
  });

  it.each(Object.keys(cases))("are called as Envelop calls them: %s", async (name) => {
    const [ours, theirs]: [Calls, Calls] = [[], []];
    const result = await createGraphqlExecutorWithPluginHooks(cases[name]?.(ours) ?? [])(args());
    const expected: unknown = await envelop({ plugins: cases[name]?.(theirs) ?? [] })({}).execute(args());
    expect(result).toEqual(expected);
    expect(ours).toEqual(theirs);
    expect(ours).not.toEqual([]);
  });

  it("end the execution with their error", async () => {
    const plugins: Plugin[] = [
      executor([]),
      { onExecute: () => Promise.reject(new Error("The hook failed.")) },
    ];
    await expect(Promise.resolve(createGraphqlExecutorWithPluginHooks(plugins)(args()))).rejects.toThrow(
      "The hook failed.",
    );
  });
});
