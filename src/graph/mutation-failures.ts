/**
 * The error codes that the mutations of the graph can answer. `defineMutation` takes the codes that only some
 * mutations have; every mutation can also answer with the codes of `commonMutationFailures`.
 */
import type { FailureCode } from "#foundation/failure.ts";

/** The error codes that every mutation can answer. */
export const commonMutationFailures: readonly FailureCode[] = [
  "malformed_request",
  "invalid_field",
  "role_not_allowed",
  "idempotency_key_invalid",
  "idempotency_key_reused",
  "idempotency_in_progress",
  "internal_error",
  "service_unavailable",
];
