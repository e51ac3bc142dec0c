/**
 * Runs GraphQL subscriptions. Yoga parses and validates the document, and this file turns it into a stream of
 * events. Each event executes the document again, with the caller's permissions at that moment and without
 * data cached for earlier events.
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
import { getCredentialIdOfViewer, type InternalTokenOrStaffViewer } from "#access/viewer.ts";
import { toServiceUnavailableIfTemporary } from "#database/database-errors.ts";
import { Failure, createFailureWithDetail, toFailure } from "#foundation/failure.ts";
import type { GraphqlContext } from "#graph/context.ts";
import { requireNoControlCharacters } from "#mesh/clean-text.ts";
import {
  getChargedGraphqlCostPoints,
  measureGraphqlQueryCostAndLimit,
  requireQueryCostWithinLimit,
} from "#mesh/plugins/limits.ts";
import { PublicGraphqlError } from "#mesh/public-error.ts";
import type { GraphqlDocumentRunner } from "#mesh/run.ts";
import type { YogaServerContext } from "./authenticate.ts";
import type {
  ServerSentEventStream,
  ServerSentEventStreams,
  SubscriptionResultStream,
  SubscriptionResultWithLastFlag,
} from "./event-streams.ts";
import { type FailureToGraphqlErrorServices, convertSubscriptionErrorsToFailures } from "./failures.ts";

export interface SubscriptionServices extends FailureToGraphqlErrorServices {
  readonly schema: GraphQLSchema;
  readonly run: GraphqlDocumentRunner;
  readonly streams: ServerSentEventStreams;
  /**
   * Verifies the credential of an open subscription again. Returns the viewer with the caller's current role
   * and permissions.
   */
  readonly recheck: (caller: FastifyRequest) => Promise<InternalTokenOrStaffViewer>;
  readonly contextOf: (caller: FastifyRequest, viewer: InternalTokenOrStaffViewer) => GraphqlContext;
}

const begun = new WeakMap<FastifyRequest, SubscriptionResultStream>();

/**
 * Returns the results of the subscription that a request has started; undefined if it has started none. The
 * service sends these results as an event stream, and drops the answer that Yoga created.
 */
export function getSubscriptionResultStream(caller: FastifyRequest): SubscriptionResultStream | undefined {
  return begun.get(caller);
}

const accepting = new WeakSet<FastifyRequest>();

/**
 * Records whether a request's Accept header allows server-sent events. Must run before the service replaces
 * the header by one that always accepts JSON.
 */
export function recordEventStreamAcceptHeader(caller: FastifyRequest): void {
  if (/\btext\/event-stream\b/i.test(caller.headers.accept ?? "")) accepting.add(caller);
}

export function createGraphqlSubscriptionPlugin(services: SubscriptionServices): Plugin<GraphqlContext> {
  return {
    onSubscribe({ args, setSubscribeFn }) {
      setSubscribeFn(async () => {
        try {
          return await begin(args as unknown as Subscribing, services);
        } catch (error) {
          if (error instanceof Failure) return { errors: [asPublicError(error, args.contextValue)] };
          throw error;
        }
      });
    },
  };
}

interface Subscribing extends ExecutionArgs {
  readonly contextValue: GraphqlContext & YogaServerContext;
}

/**
 * Starts a subscription. Returns a result with errors if the subscription is refused, otherwise an empty
 * result. The empty result is not sent, because the event stream is sent instead.
 */
async function begin(args: Subscribing, services: SubscriptionServices): Promise<ExecutionResult> {
  const { caller, viewer } = args.contextValue;
  if (!accepting.has(caller)) throw notAccepted();
  requireNoControlCharacters(args);
  requireRoot(args);
  const cost = measureGraphqlQueryCostAndLimit({ ...args, schema: services.schema });
  requireQueryCostWithinLimit(cost);
  const payment = await args.contextValue.spendCost?.(getChargedGraphqlCostPoints(cost));
  if (payment?.refusal !== undefined) throw payment.refusal;
  if (viewer.kind !== "internal") throw new Error("Only internal tokens and staff sessions can subscribe.");
  const stream = services.streams.open(caller, {
    callerId: getCredentialIdOfViewer(viewer),
    merchantId: viewer.merchantId,
  });
  try {
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return refused(stream, source);
    const steps = source[Symbol.asyncIterator]();
    const renderStep = (step: unknown): Promise<SubscriptionResultWithLastFlag> =>
      renderStepResult(step, args, services);
    const renderEnd = (reason: unknown): object | undefined =>
      reason instanceof Failure
        ? convertSubscriptionErrorsToFailures(
            { errors: [asPublicError(reason, args.contextValue)] },
            caller,
            services,
          )
        : undefined;
    begun.set(caller, { ...stream, steps, renderStep, renderEnd });
    return { data: {} };
  } catch (error) {
    stream.end();
    throw error;
  }
}

function refused({ end }: ServerSentEventStream, result: ExecutionResult): ExecutionResult {
  end();
  return result;
}

/**
 * Refuses `@skip` and `@include` on root fields of a subscription. If they removed the root field, nothing
 * would be left to subscribe to, and GraphQL defines no answer for this case.
 */
function requireRoot({ document, operationName }: Subscribing): void {
  const root = getOperationAST(document, operationName)?.selectionSet;
  if (root === undefined || !isConditional(root, document)) return;
  throw createFailureWithDetail("malformed_request", {
    in: "body",
    field: "/query",
    code: "not_allowed",
    message: "The root field of a subscription may not have @skip or @include.",
  });
}

/**
 * Returns whether a root field of the operation has a directive `@skip` or `@include`. The search follows
 * fragments; validation has already refused circular ones.
 */
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
  createFailureWithDetail("malformed_request", {
    in: "header",
    field: "Accept",
    code: "required",
    message:
      "A subscription is answered with server-sent events: send it by POST with `Accept: text/event-stream`.",
  });

async function renderStepResult(
  step: unknown,
  args: Subscribing,
  services: SubscriptionServices,
): Promise<SubscriptionResultWithLastFlag> {
  const { caller } = args.contextValue;
  const result = await runStep(step, args, services);
  const isLast = Object.values(result.data ?? {}).every((value) => value === null);
  return { result: convertSubscriptionErrorsToFailures(result, caller, services), isLast };
}

/** Executes a subscription's document for one event, with the caller's permissions at the time of the event. */
async function runStep(
  step: unknown,
  args: Subscribing,
  { recheck, contextOf, run }: SubscriptionServices,
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
    // Returns the error as a result, because a thrown error would end the stream without a reason for the
    // client.
    return {
      errors: [asPublicError(toServiceUnavailableIfTemporary(toFailure(error)), args.contextValue)],
    };
  }
}

const asPublicError = (failure: Failure, context: GraphqlContext): PublicGraphqlError =>
  new PublicGraphqlError(failure, context);
