/**
 * Reads whole numbers and the session's version from forms of the checkout page. Also creates the URL query
 * of the page that is shown after a change.
 */
import { createFailure } from "#foundation/failure.ts";

/**
 * Returns the URL query `?changed`, with an optional anchor, for the page after a successful form. With this
 * query, the page no longer shows the error of the last payment.
 */
export const createFormSuccessUrlQuery = (anchor = ""): string => `?changed${anchor}`;

/** Reads a whole number from 0 to `max` from the form; undefined if the field has no such number. */
export function parseFormInteger(form: URLSearchParams, name: string, max: number): number | undefined {
  const text = form.get(name) ?? "";
  const value = /^\d{1,16}$/.test(text) ? Number(text) : undefined;
  return value === undefined || value > max ? undefined : value;
}

const versionMax = 2 ** 31 - 1;

export function parseCheckoutSessionVersionField(form: URLSearchParams): number {
  const version = parseFormInteger(form, "version", versionMax) ?? 0;
  if (version < 1) throw createFailure("checkout_session_version_conflict");
  return version;
}
