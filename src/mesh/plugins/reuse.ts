/**
 * Answers queries with results that are kept in memory (`graph/kept-results.ts`). Every query still asks the
 * database whether the cart or order has changed. The other plugins run as for every execution, so each
 * request is checked, limited and counted.
 */
import type { ExecutionArgs, ExecutionResult } from "graphql";
import type { Plugin } from "graphql-yoga";
import { isApiKeyOrOauthViewer } from "#access/viewer.ts";
import type { GraphqlContext } from "#graph/context.ts";
import type { KeptGraphqlResult, KeptGraphqlResults } from "#graph/kept-result-memory.ts";
import type { LoadedKeptResultSource } from "#graph/kept-results.ts";
import { isBuiltInGraphqlDocument } from "#mesh/contract-schema.ts";
import { findKeepableQuery, type KeepableQuery } from "#mesh/keepable-query.ts";
import { getParsedAndCompiledGraphqlDocument } from "#mesh/prepared-document.ts";
import { keepTextOfResultData } from "#mesh/result-text.ts";
import {
  createMeshExecutorWrappingPlugin,
  type GraphqlDocumentExecutionArgs,
  type GraphqlDocumentExecutor,
} from "#mesh/run.ts";

export default (): Plugin =>
  createMeshExecutorWrappingPlugin((args, execute): GraphqlDocumentExecutor | undefined => {
    const { schema, document, contextValue } = args;
    const { services, viewer }: Partial<GraphqlContext> = contextValue;
    const results = services?.keptResults;
    // This service renders each event once, so the results of its own documents would never be reused.
    if (results === undefined || viewer === undefined || viewer.kind === "system") return undefined;
    // Other documents are parsed again for each request, so no later request would find their results.
    if (!isBuiltInGraphqlDocument(document) && getParsedAndCompiledGraphqlDocument(document) === undefined)
      return undefined;
    const query = findKeepableQuery(schema, document);
    return query === null ? undefined : executeOrReuse({ results, query, args }, execute);
  });

interface KeepableExecution {
  readonly results: KeptGraphqlResults;
  readonly query: KeepableQuery;
  readonly args: GraphqlDocumentExecutionArgs;
}

const executeOrReuse =
  (
    { results, query, args: { contextValue: context, variableValues } }: KeepableExecution,
    execute: GraphqlDocumentExecutor,
  ) =>
  async (input: ExecutionArgs): Promise<ExecutionResult> => {
    const id = query.getId(variableValues);
    if (id === undefined) return execute(input);
    const { clock, operationId, services } = context;
    const key = `${query.number} ${id} ${describeCaller(context)}`;
    const load = async (): Promise<LoadedKeptResultSource | null> => {
      try {
        return await query.load(id, context);
      } catch {
        // The loader fails again in the resolver, which reports the error.
        return null;
      }
    };
    // A caller who may not read the object never has a kept result, so nothing is loaded for such a caller
    // before the resolver has checked the rights.
    const kept = results.get(key);
    const isReusable =
      kept !== undefined && isRenderedFrom(kept, await load()) && isValidAt(kept, clock.now());
    services.events.emit("responseCacheUsed", operationId ?? "graphql", isReusable);
    if (isReusable) return kept.result;
    const validFrom = clock.now();
    const result = await execute(input);
    const { data } = result;
    if (result.errors !== undefined || !hasMember(data, query.responseName)) return result;
    const loaded = await load();
    if (loaded === null) return result;
    const validUntil = loaded.findTimeOfNextChange(validFrom);
    const text = keepTextOfResultData(data);
    const next = {
      result: freezeDeeply(result),
      text,
      object: new WeakRef(loaded.object),
      validFrom,
      validUntil,
    };
    if (isValidAt(next, clock.now())) results.set(key, next);
    return result;
  };

/** Freezes a result, because later requests get the same objects. A plugin can only replace the result. */
function freezeDeeply<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freezeDeeply(member);
  return Object.freeze(value);
}

const hasMember = (data: ExecutionResult["data"], name: string): data is NonNullable<typeof data> =>
  data?.[name] !== undefined && data[name] !== null;

const isRenderedFrom = ({ object }: KeptGraphqlResult, loaded: LoadedKeptResultSource | null): boolean =>
  loaded !== null && loaded.object === object.deref();

/** A time before `validFrom` means that the system clock was set back, so the result is not reused. */
const isValidAt = ({ validFrom, validUntil }: Omit<KeptGraphqlResult, "text">, now: Date): boolean =>
  now >= validFrom && (validUntil === null || now < validUntil);

/** Returns a text of all properties of the caller on which a result can depend. */
function describeCaller({ viewer, buyerReference, buyerSessionId }: GraphqlContext): string {
  // A Set has no properties that JSON contains, so the scopes are listed separately.
  const scopes = isApiKeyOrOauthViewer(viewer) ? [...viewer.scopes] : null;
  return JSON.stringify([viewer, scopes, buyerReference, buyerSessionId]);
}
