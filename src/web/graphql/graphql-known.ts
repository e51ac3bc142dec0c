/**
 * Answers queries that are kept compiled, without Yoga: the same answers, by the same limits. Whatever is not quite as usual is left to Yoga, which has
 * executed nothing of it yet.
 */
import type { FastifyRequest } from "fastify";
import type { ExecutionResult } from "graphql";
import type { GraphContext } from "#graph/context.ts";
import { costLimitOf } from "#graph/limits.ts";
import type { CompiledDocument, Variables } from "./graphql-compiled.ts";
import { type FailureServices, showResult } from "./graphql-failures.ts";
import type { KeptQueries } from "./graphql-kept.ts";
import { type Cost, uncleanVariable, withinTime } from "./graphql-limits.ts";
import { tracedExecution } from "./graphql-trace.ts";

export interface KnownDoor extends FailureServices {
  readonly kept: KeptQueries;
  readonly contextOf: (request: FastifyRequest) => GraphContext;
  readonly onCost: (cost: number) => void;
}

export interface KnownAnswer {
  readonly status: number;
  readonly text: string;
}

/** Undefined: it is for Yoga. */
export function answerKnown(request: FastifyRequest, door: KnownDoor): Promise<KnownAnswer> | undefined {
  const asked = readAsked(request.body);
  if (asked === undefined) return undefined;
  const { query, operationName, variables } = asked;
  const document = door.kept.find(query);
  if (document === undefined || (operationName !== null && operationName !== document.operationName)) return undefined;
  if (uncleanVariable(variables) !== undefined) return undefined;
  const context = door.contextOf(request);
  const cost = affordableCost(document, context, variables);
  if (cost === undefined) return undefined;
  const running = tracedExecution(document.span, () => document.run(context, variables));
  if (!(running instanceof Promise) && running.data === undefined) return undefined;
  door.onCost(cost.requested);
  return show(running, { request, door, cost });
}

/** Undefined also where the variables are such that there is none. */
function affordableCost(document: CompiledDocument, context: GraphContext, variables: Variables): Cost | undefined {
  try {
    const cost = { requested: document.costOf(context, variables), limit: costLimitOf(context.viewer) };
    return cost.requested <= cost.limit ? cost : undefined;
  } catch {
    return undefined;
  }
}

interface Asked {
  readonly query: string;
  readonly operationName: string | null;
  readonly variables: Variables;
}

const members: ReadonlySet<string> = new Set(["query", "operationName", "variables"]);

function readAsked(body: unknown): Asked | undefined {
  if (!isObject(body)) return undefined;
  for (const name in body) if (!members.has(name)) return undefined;
  const { query } = body;
  const operationName = body["operationName"] ?? null;
  const variables = body["variables"] ?? {};
  const isUsual = typeof query === "string" && isObject(variables) && (operationName === null || typeof operationName === "string");
  return isUsual ? { query, operationName, variables } : undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null && !Array.isArray(value);

interface Shown {
  readonly request: FastifyRequest;
  readonly door: KnownDoor;
  readonly cost: Cost;
}

async function show(running: Promise<ExecutionResult> | ExecutionResult, { request, door, cost }: Shown): Promise<KnownAnswer> {
  const result = running instanceof Promise ? await withinTime(running) : running;
  const shown = showResult({ ...result, extensions: { cost } }, request, door);
  return { status: shown.status, text: JSON.stringify(shown.result) };
}
