/** How long one document may run. */
import type { ExecutionResult } from "graphql";
import { fail } from "#foundation/failure.ts";
import { executionMsMax } from "#graph/limits.ts";

/** Rejects with 504 `upstream_timeout` after the limit. What is running goes on, and its result is dropped. */
export async function withinTime(running: Promise<ExecutionResult>): Promise<ExecutionResult> {
  const { promise, reject } = Promise.withResolvers<never>();
  const message = `The query ran for ${executionMsMax / 1000} s, which is the limit. Ask for less at once.`;
  const timer = setTimeout(() => reject(fail("upstream_timeout", { message })), executionMsMax);
  try {
    return await Promise.race([running, promise]);
  } finally {
    clearTimeout(timer);
  }
}
