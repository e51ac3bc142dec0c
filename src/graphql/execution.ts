/** Executes the documents of `/graphql` with Mesh, which applies the policies of `.meshrc.yaml`. */
import type { DocumentNode, ExecutionResult } from "graphql";
import { toUnavailableFailureIfTemporary } from "#database/database-errors.ts";
import { toFailure } from "#foundation/failure.ts";
import type { GraphContext } from "#graph/context.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import type { Mesh } from "#mesh/open-mesh.ts";
import { PublicError } from "#mesh/public-error.ts";
import type { DocumentRunOptions } from "#mesh/run.ts";
import { runWithPromotionCodeLimit } from "./browser-callers.ts";

/** Executes a valid document for the caller of a context. Returns failures as errors of the result. */
export type DocumentExecution = (
  document: DocumentNode,
  context: GraphContext,
  options: DocumentRunOptions,
) => Promise<ExecutionResult>;

export const createDocumentExecution =
  (run: Mesh["run"], limiter: RateLimiter): DocumentExecution =>
  async (document, context, options) => {
    try {
      return await runWithPromotionCodeLimit(limiter, { document, context }, async () =>
        run(document, context, options),
      );
    } catch (error) {
      // Errors that `run` throws become failures of the answer: that too much code was compiled, or that a
      // hook of an additional Mesh plugin failed. `run` throws no other errors.
      return { errors: [new PublicError(toUnavailableFailureIfTemporary(toFailure(error)), context)] };
    }
  };
