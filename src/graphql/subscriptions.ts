/**
 * Subscriptions: Yoga parses, validates and measures their documents; from there on they are streams of
 * events. Each event is executed anew, with what the subscriber may see at that moment and with loaders of
 * its own.
 */
import type { FastifyRequest } from "fastify";
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  getOperationAST,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
} from "graphql";
import type { Plugin } from "graphql-yoga";
import { credentialIdOf, type InternalViewer } from "#access/viewer.ts";
import { orUnavailable } from "#database/database-errors.ts";
import { Failure, failAt, toFailure } from "#foundation/failure.ts";
import type { GraphContext } from "#graph/context.ts";
import { requireCleanTexts } from "#mesh/clean-text.ts";
import { measureQueryCost, requireCostWithinLimit } from "#mesh/plugins/limits.ts";
import { PublicError } from "#mesh/public-error.ts";
import type { RunDocument } from "#mesh/run.ts";
import type { YogaServerContext } from "./authenticate.ts";
import type { OpenStream, OpenStreams, Results, Told } from "./event-streams.ts";
import { type FailureServices, showResult } from "./failures.ts";

export interface StreamDoor extends FailureServices {
  readonly schema: GraphQLSchema;
  readonly run: RunDocument;
  readonly streams: OpenStreams;
  /** Who asks, now. */
  readonly recheck: (caller: FastifyRequest) => Promise<InternalViewer>;
  readonly contextOf: (caller: FastifyRequest, viewer: InternalViewer) => GraphContext;
}

const begun = new WeakMap<FastifyRequest, Results>();

/** What is to be sent instead of Yoga's answer. */
export function resultsOf(caller: FastifyRequest): Results | undefined {
  return begun.get(caller);
}

const accepting = new WeakSet<FastifyRequest>();

/** To be asked before the header is made the door's own. */
export function noteAccept(caller: FastifyRequest): void {
  if (/\btext\/event-stream\b/i.test(caller.headers.accept ?? "")) accepting.add(caller);
}

export function streamSubscriptions(door: StreamDoor): Plugin<GraphContext> {
  return {
    onSubscribe({ args, setSubscribeFn }) {
      setSubscribeFn(async () => {
        try {
          return await begin(args as unknown as Subscribing, door);
        } catch (error) {
          if (error instanceof Failure) return { errors: [asPublicError(error, args.contextValue)] };
          throw error;
        }
      });
    },
  };
}

interface Subscribing extends ExecutionArgs {
  readonly contextValue: GraphContext & YogaServerContext;
}

/** The answer where it is refused. */
async function begin(args: Subscribing, door: StreamDoor): Promise<ExecutionResult> {
  const { caller, viewer } = args.contextValue;
  if (!accepting.has(caller)) throw notAccepted();
  requireCleanTexts(args);
  requireRoot(args);
  const cost = measureQueryCost({ ...args, schema: door.schema });
  requireCostWithinLimit(cost);
  if (viewer.kind !== "internal") throw new Error("Only internal tokens and people come through this door.");
  const stream = door.streams.open(caller, credentialIdOf(viewer));
  try {
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return refused(stream, source);
    const steps = source[Symbol.asyncIterator]();
    const tell = (step: unknown): Promise<Told> => tellStep(step, args, door);
    const tellEnd = (reason: unknown): object | undefined =>
      reason instanceof Failure
        ? showResult({ errors: [asPublicError(reason, args.contextValue)] }, caller, door)
        : undefined;
    begun.set(caller, { ...stream, steps, tell, tellEnd });
    return { data: {} };
  } catch (error) {
    stream.end();
    throw error;
  }
}

function refused({ end }: OpenStream, result: ExecutionResult): ExecutionResult {
  end();
  return result;
}

/**
 * GraphQL has no answer to a subscription to nothing: `@skip` and `@include` may stand anywhere but at its
 * root.
 */
function requireRoot({ document, operationName }: Subscribing): void {
  const root = getOperationAST(document, operationName)?.selectionSet;
  if (root === undefined || !isConditional(root, document)) return;
  throw failAt("malformed_request", {
    in: "body",
    field: "/query",
    code: "not_allowed",
    message: "The root field of a subscription may not have @skip or @include.",
  });
}

/** Validated before: no fragment comes round to itself. */
function isConditional({ selections }: SelectionSetNode, document: DocumentNode): boolean {
  return selections.some((selection) => {
    if (selection.directives?.some(({ name }) => name.value === "skip" || name.value === "include") === true)
      return true;
    if (selection.kind === Kind.FIELD) return false;
    const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragmentOf(selection, document);
    return inner !== undefined && isConditional(inner.selectionSet, document);
  });
}

const fragmentOf = (
  { name }: FragmentSpreadNode,
  { definitions }: DocumentNode,
): FragmentDefinitionNode | undefined =>
  definitions.find(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name.value,
  ) as FragmentDefinitionNode | undefined;

const notAccepted = (): Failure =>
  failAt("malformed_request", {
    in: "header",
    field: "Accept",
    code: "required",
    message:
      "A subscription is answered with server-sent events: send it by POST with `Accept: text/event-stream`.",
  });

async function tellStep(step: unknown, args: Subscribing, door: StreamDoor): Promise<Told> {
  const { caller } = args.contextValue;
  const result = await runStep(step, args, door);
  const isLast = Object.values(result.data ?? {}).every((value) => value === null);
  return { result: showResult(result, caller, door), isLast };
}

/** Executes the document on one event, for the caller as it is now. */
async function runStep(
  step: unknown,
  args: Subscribing,
  { recheck, contextOf, run }: StreamDoor,
): Promise<ExecutionResult> {
  const { caller } = args.contextValue;
  const { document, operationName, variableValues: variables } = args;
  try {
    return await run(document, contextOf(caller, await recheck(caller)), {
      variables,
      operationName,
      rootValue: step,
    });
  } catch (error) {
    // Sent and logged as everywhere else: otherwise the stream would end without a reason.
    return { errors: [asPublicError(orUnavailable(toFailure(error)), args.contextValue)] };
  }
}

const asPublicError = (failure: Failure, context: GraphContext): PublicError =>
  new PublicError(failure, context);
