/** Callers with a key are limited by the key: reads and writes each have a bucket. */
import { type Step } from "#gateway/call.ts";
import { takeOne } from "#gateway/limit.ts";

export const limitByKey: Step = {
  name: "limit by key",
  phase: "headers",
  appliesTo: () => true,
  create: ({ limiter }, { method }) => {
    const bucket = method === "GET" ? "default" : "write";
    return (call) => (call.viewer.kind === "api_key" ? takeOne(limiter, call.reply, { bucket, key: call.viewer.apiKeyId }) : undefined);
  },
};
