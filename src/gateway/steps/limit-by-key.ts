/** Callers with a key are limited by the key: reads and writes each have a bucket. What has a bucket of its own is counted by installation. */
import { type Step } from "#gateway/call.ts";
import { takeOne } from "#gateway/limit.ts";

export const limitByKey: Step = {
  name: "limit by key",
  phase: "headers",
  appliesTo: () => true,
  create: ({ limiter }, { method, ownBucket }) => {
    const bucket = ownBucket ?? (method === "GET" ? "default" : "write");
    return ({ viewer, reply }) => {
      if (viewer.kind !== "api_key") return undefined;
      return takeOne(limiter, reply, { bucket, key: ownBucket === null ? viewer.apiKeyId : viewer.installationId });
    };
  },
};
