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
      // Two kinds of errors are thrown instead of returned in a result: `rate_limited` after too many wrong
      // promotion codes, and errors of hooks of additional Mesh plugins. They become failures of the answer.
      return { errors: [new PublicError(toUnavailableFailureIfTemporary(toFailure(error)), context)] };
    }
  };
