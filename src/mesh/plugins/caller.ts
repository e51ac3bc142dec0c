/**
 * Finds the caller of a document when Mesh's own server runs it (`mesh dev`), which knows nothing of this
 * service's credentials. The service itself finds the caller before it executes anything, and this plugin
 * then does nothing.
 */
import { join } from "node:path";
import { type Failure, toFailure } from "#foundation/failure.ts";
import type { GraphContext } from "#graph/context.ts";
import type { MeshDevPlugin } from "#mesh/run.ts";

/** What the module named by the option `contexts` exports. */
export interface MeshDevContextModule {
  /**
   * The context of the caller with this `Authorization` header. Throws a failure of the registry if its token
   * is not valid.
   */
  readonly createDevContext: (authorization: string) => Promise<GraphContext>;
}

interface Options {
  /** A module, relative to the configuration's folder. It is loaded for the first request that needs it. */
  readonly contexts: string;
  readonly baseDir: string;
  readonly importFn: (path: string) => Promise<MeshDevContextModule>;
}

/** A context that Mesh's own server made, before or after this plugin has found its caller. */
export interface MeshDevContext extends Partial<GraphContext> {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Why the credentials were refused. */
  readonly refusal?: Failure;
}

export default ({ contexts, baseDir, importFn }: Options): MeshDevPlugin => ({
  isOnlyForMeshDev: true,
  onContextBuilding: ({ context, extendContext }) => {
    const { viewer, headers } = context as MeshDevContext;
    const authorization = headers?.["authorization"];
    if (viewer !== undefined || authorization === undefined) return undefined;
    const extend = extendContext as (extension: MeshDevContext) => void;
    return importFn(join(baseDir, contexts))
      .then(({ createDevContext }) => createDevContext(authorization))
      .then(extend, (error: unknown) => extend({ refusal: toFailure(error) }));
  },
});
