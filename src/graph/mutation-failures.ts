/**
 * The error codes with which the mutations of the graph can answer. Every mutation can answer with the codes
 * of `commonMutationFailures`. Codes that only some mutations have are listed in the definition of the
 * mutation (`defineMutation`).
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
