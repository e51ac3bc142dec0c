/**
 * Decides which results of queries may be kept in memory. A result is kept if the query reads one cart or one
 * order by its id, and if all selected fields depend only on this cart or order and on the viewer. A kept
 * result is reused only for the same query of a caller with the same rights, while the database still has the
 * same cart or order, and until the next time at which the result changes by itself.
 */
import type { GraphqlContext } from "./context.ts";

/** The cart or order that a root field returns, and the time until which it looks the same. */
export interface LoadedKeptResultSource {
  readonly object: object;
  readonly findTimeOfNextChange: (now: Date) => Date | null;
}

/** Loads the object of a root field through the loader that the field's resolver uses. */
export type KeptResultSource = (
  id: string,
  context: GraphqlContext,
) => Promise<LoadedKeptResultSource | null>;

declare module "graphql" {
  // eslint-disable-next-line no-unused-vars -- A merged declaration has the type parameters of the original.
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /**
     * The cart or order that a field of the type Query returns for its argument `id`. Only root fields whose
     * results may be kept have this extension. Their resolvers depend only on this object, the argument, the
     * time, and the caller (viewer, buyer reference and buyer session).
     */
    readonly keptResultSource?: KeptResultSource | undefined;
  }
}

type CallerOfField = Pick<GraphqlContext, "viewer">;

const resolversOfObjectAndViewer = new WeakSet<object>();

/**
 * Creates the resolver of a field that depends only on its object and on the viewer. Results with such a
 * field can be kept. `compute` gets no other part of the context.
 */
export function resolveFromObjectAndViewer<Parent, Value>(
  compute: (object: Parent, caller: CallerOfField) => Value,
): (object: Parent, args: unknown, caller: CallerOfField) => Value {
  const resolve = (object: Parent, _args: unknown, { viewer }: CallerOfField): Value =>
    compute(object, { viewer });
  resolversOfObjectAndViewer.add(resolve);
  return resolve;
}

/**
 * Returns true if a resolver depends only on its object and on the viewer: if it declares no parameter except
 * the object, or was created by `resolveFromObjectAndViewer`.
 */
export const isResolverOfObjectAndViewer = (resolve: (...parameters: never[]) => unknown): boolean =>
  resolve.length <= 1 || resolversOfObjectAndViewer.has(resolve);

/** Creates the extension `keptResultSource` of a root field. */
export const createKeptResultSource =
  <Loaded extends object>({
    load,
    findTimeOfNextChange,
  }: {
    readonly load: (id: string, context: GraphqlContext) => Promise<Loaded | null>;
    readonly findTimeOfNextChange: (object: Loaded, now: Date) => Date | null;
  }): KeptResultSource =>
  async (id, context) => {
    const object = await load(id, context);
    return object === null
      ? null
      : { object, findTimeOfNextChange: (now) => findTimeOfNextChange(object, now) };
  };
