/**
 * What an input breaks, as pure functions that answer with lists, so that a client learns of all its faults
 * at once and before any row is read. `field` is always a JSON Pointer into the input.
 */
import { fail, failAt, type Failure, type FailureCode, type FailureDetail } from "./failure.ts";
import { isCleanText, isCountry } from "./text.ts";
import { isCurrency } from "./money.ts";

export type Faults = FailureDetail[];

export function requireNoFaults(faults: readonly FailureDetail[]): void {
  const [first] = faults;
  if (first !== undefined) throw fail("invalid_field", { message: first.message, details: faults });
}

export function faultAt(field: string, code: string, message: string): FailureDetail {
  return { in: "body", field, code, message };
}

/** For what only the rows can tell: a thing that isn't there, a name that is taken. */
export function refuseAt(
  failure: FailureCode,
  field: string,
  { code, message }: { readonly code: string; readonly message: string },
): Failure {
  return failAt(failure, faultAt(field, code, message));
}

export interface TextRule {
  /** In characters; 1 unless told. */
  readonly min?: number;
  readonly max: number;
  readonly lines?: "one" | "many";
}

const lineBreak = /[\t\n\r\u0085\u2028\u2029]/;

/** Absent text breaks nothing. */
export function textFaults(
  field: string,
  text: string | null | undefined,
  { min = 1, max, lines = "one" }: TextRule,
): Faults {
  if (text === null || text === undefined) return [];
  const characters = Array.from(text).length;
  if (characters > max) return [faultAt(field, "too_long", `It may have ${max} characters at most.`)];
  if (characters < min || (min > 0 && text.trim() === ""))
    return [faultAt(field, "too_short", "It must not be empty.")];
  if (!isCleanText(text))
    return [faultAt(field, "control_character", "It has control characters or broken Unicode.")];
  if (lines === "one" && lineBreak.test(text))
    return [faultAt(field, "control_character", "It must stand on one line.")];
  return [];
}

export interface NumberRule {
  readonly min: number;
  readonly max: number;
}

export function integerFaults(
  field: string,
  value: number | null | undefined,
  { min, max }: NumberRule,
): Faults {
  if (value === null || value === undefined) return [];
  if (Number.isSafeInteger(value) && value >= min && value <= max) return [];
  const code = !Number.isInteger(value) ? "wrong_type" : value < min ? "too_small" : "too_large";
  return [faultAt(field, code, `It must be a whole number from ${min} to ${max}.`)];
}

export function countFaults(field: string, list: readonly unknown[], { min, max }: NumberRule): Faults {
  if (list.length < min) return [faultAt(field, "too_short", `It must have ${min} at least.`)];
  if (list.length > max) return [faultAt(field, "too_long", `It may have ${max} at most.`)];
  return [];
}

/** A list that may be absent, of at most `max` entries, none of them twice. */
export function listFaults(field: string, list: readonly string[] | null | undefined, max: number): Faults {
  if (list === null || list === undefined) return [];
  return [
    ...countFaults(field, list, { min: 0, max }),
    ...repeatFaults(list, (index) => `${field}/${index}`),
  ];
}

/** Every key that stood there before. */
export function repeatFaults(keys: readonly string[], fieldOf: (index: number) => string): Faults {
  return keys.flatMap((key, index) =>
    keys.indexOf(key) < index ? [faultAt(fieldOf(index), "duplicate", "It stands there twice.")] : [],
  );
}

/** `noun` names what the value is, for the message. */
export function choiceFaults(
  field: string,
  value: string,
  { allowed, noun }: { readonly allowed: readonly string[]; readonly noun: string },
): Faults {
  return allowed.includes(value)
    ? []
    : [{ ...faultAt(field, "not_allowed", `There is no such ${noun}.`), allowed }];
}

export function countryFaults(field: string, country: string): Faults {
  return isCountry(country)
    ? []
    : [faultAt(field, "unknown_country", "It is not a country code of ISO 3166-1, in capitals.")];
}

/** An absent currency breaks nothing. */
export function currencyFaults(field: string, currency: string | null | undefined): Faults {
  if (currency === null || currency === undefined || isCurrency(currency)) return [];
  return [faultAt(field, "unknown_currency", "It is not a currency of ISO 4217.")];
}
