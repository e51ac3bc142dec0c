/**
 * Distinguishes three kinds of errors of Stripe's API: a final refusal, a key that Stripe does not accept,
 * and all others.
 */
import type Stripe from "stripe";

type StripeError = Stripe.errors.StripeError;

const isStripeError = (error: unknown): error is StripeError =>
  error instanceof Error && error.constructor.name.startsWith("Stripe") && "statusCode" in error;

/** The HTTP statuses of answers with which Stripe refuses a request for good. */
const refusalStatuses: ReadonlySet<number | undefined> = new Set([400, 402, 404]);

/**
 * Returns the error code if Stripe has refused a request for good. Returns undefined if the outcome of the
 * request is unknown, so that it must be repeated. An error about the idempotency key does not show the
 * outcome of the first request with the key.
 */
export function getStripeRefusalCode(error: unknown): string | undefined {
  if (!isStripeError(error) || !refusalStatuses.has(error.statusCode)) return undefined;
  if (error.rawType === "idempotency_error") return undefined;
  return normalizeStripeErrorCode(error.decline_code ?? error.code ?? error.rawType);
}

/** Returns Stripe's error code unchanged if it is in lower_snake_case, and otherwise `other`. */
export const normalizeStripeErrorCode = (code: string | null | undefined): string =>
  code !== null && code !== undefined && /^[a-z][a-z\d_]{0,63}$/.test(code) ? code : "other";

/**
 * Returns true if Stripe does not accept the key: the key was revoked, or it lacks the permission for the
 * request.
 */
export const isStripeKeyRefusalError = (error: unknown): boolean =>
  isStripeError(error) && (error.statusCode === 401 || error.statusCode === 403);
