/**
 * Reads values of the checkout page's forms (whole numbers, and the session's version), and builds the URL
 * query of the page that is shown after a change.
 */
import { fail } from "#foundation/failure.ts";

/**
 * Returns the URL query that the checkout page gets after a successful change: `?changed`. A page with this
 * query does not show the error of the last payment any more.
 */
export const createQueryAfterChange = (anchor = ""): string => `?changed${anchor}`;

/** Reads a whole number from 0 to `max` from the form; undefined if the field has no such number. */
export function readWholeNumber(form: URLSearchParams, name: string, max: number): number | undefined {
  const text = form.get(name) ?? "";
  const value = /^\d{1,16}$/.test(text) ? Number(text) : undefined;
  return value === undefined || value > max ? undefined : value;
}

const versionMax = 2 ** 31 - 1;

export function parseSessionVersion(form: URLSearchParams): number {
  const version = readWholeNumber(form, "version", versionMax) ?? 0;
  if (version < 1) throw fail("checkout_session_version_conflict");
  return version;
}
