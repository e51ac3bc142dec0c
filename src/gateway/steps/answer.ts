/** Sends the result of the document in the contract's envelope. A null on the way to `data` is the operation's 404. */
import type { ExecutionResult } from "graphql";
import { fail } from "#foundation/failure.ts";
import { type Step } from "#gateway/call.ts";
import type { Operation } from "#gateway/contract.ts";
import { failureOfError } from "#mesh/public-error.ts";

export const answer: Step = {
  name: "answer",
  phase: "body",
  appliesTo: () => true,
  create: (_services, operation) => {
    const cacheControl = operation.security.kind === "anonymous" ? "public, max-age=30, stale-while-revalidate=60" : "no-store";
    return ({ result, recorded, reply }) => {
      void reply.header("cache-control", cacheControl);
      if (recorded !== undefined) {
        const { status, contentType, body } = recorded.recorded;
        void reply.code(status).header("idempotent-replayed", String(recorded.isReplay)).type(contentType).send(body);
        return;
      }
      const { text, data } = renderAnswer(operation, result);
      const language = operation.languageField === null ? undefined : field(data, operation.languageField);
      if (typeof language === "string") void reply.header("content-language", language);
      const version = operation.versionField === null ? undefined : field(data, operation.versionField);
      if (typeof version === "number") void reply.header("etag", `"v${version}"`);
      void reply.type("application/json; charset=utf-8").send(text);
    };
  },
};

/** The body of a 200. Throws the failure that the result means: its first error, or the operation's 404. */
export function renderAnswer(
  { envelope, notFound }: Operation,
  result: ExecutionResult | undefined,
): { readonly text: string; readonly data: unknown } {
  const [error] = result?.errors ?? [];
  if (error !== undefined) throw failureOfError(error);
  let body: unknown = result?.data;
  for (const step of envelope) body = field(body, step);
  const data = field(body, "data");
  if (data === null || data === undefined) throw fail(notFound);
  return { text: JSON.stringify(body), data };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
