/** Sends what the document gave, in the contract's envelope; its first error is the operation's failure, a null on the way to `data` its 404. */
import { fail, toFailure } from "#foundation/failure.ts";
import { type Step } from "#gateway/call.ts";

export const answer: Step = {
  name: "answer",
  phase: "body",
  appliesTo: () => true,
  create: (_services, { envelope, notFound, languageField, security }) => {
    const cacheControl = security.kind === "anonymous" ? "public, max-age=30, stale-while-revalidate=60" : "no-store";
    return ({ result, reply }) => {
      const [error] = result?.errors ?? [];
      if (error !== undefined) throw toFailure(error);
      let body: unknown = result?.data;
      for (const step of envelope) body = field(body, step);
      const data = field(body, "data");
      if (data === null || data === undefined) throw fail(notFound);
      const language = languageField === null ? undefined : field(data, languageField);
      if (typeof language === "string") void reply.header("content-language", language);
      void reply.header("cache-control", cacheControl).type("application/json; charset=utf-8").send(JSON.stringify(body));
    };
  },
};

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
