/**
 * The error codes of the GraphQL mutations. Every mutation can return the codes of `commonMutationFailures`.
 * A mutation's definition (`defineMutation`) lists its further codes.
 */
import type { FailureCode } from "#foundation/failure.ts";

/** The error codes that every mutation can return. */
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
