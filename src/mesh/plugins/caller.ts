/**
 * Finds the caller of a document under `mesh dev`, because Mesh's own server does not know the credentials of
 * this service. When this service executes a document, it has already found the caller, and this plugin does
 * nothing.
 */
import { join } from "node:path";
import { type Failure, toFailure } from "#foundation/failure.ts";
import type { GraphqlContext } from "#graph/context.ts";
import type { GraphqlMeshPlugin } from "#mesh/run.ts";

/** The exports of the module that the option `contexts` of this plugin names. */
export interface MeshDevContextModule {
  /**
   * Creates the GraphQL context for a caller with the given `Authorization` header. Throws a `Failure` if the
   * token in the header is not valid.
   */
  readonly createGraphqlContextForMeshDev: (authorization: string) => Promise<GraphqlContext>;
}

interface Options {
  /**
   * Path of the module that creates contexts, relative to the folder of the configuration. The module is
   * loaded when the first request needs it.
   */
  readonly contexts: string;
  readonly baseDir: string;
  readonly importFn: (path: string) => Promise<MeshDevContextModule>;
}

/**
 * The context that Mesh's own server creates for a request under `mesh dev`. The fields of `GraphqlContext`
 * are undefined until this plugin has found the caller.
 */
export interface MeshDevContext extends Partial<GraphqlContext> {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /**
   * The failure with which the caller's credentials are refused; undefined if the credentials are valid or
   * missing.
   */
  readonly refusal?: Failure;
}

export default ({ contexts, baseDir, importFn }: Options): GraphqlMeshPlugin => ({
  isOnlyForMeshDev: true,
  onContextBuilding: ({ context, extendContext }) => {
    const { viewer, headers } = context as MeshDevContext;
    const authorization = headers?.["authorization"];
    if (viewer !== undefined || authorization === undefined) return undefined;
    const extend = extendContext as (extension: MeshDevContext) => void;
    return importFn(join(baseDir, contexts))
      .then(({ createGraphqlContextForMeshDev }) => createGraphqlContextForMeshDev(authorization))
      .then(extend, (error: unknown) => extend({ refusal: toFailure(error) }));
  },
});
