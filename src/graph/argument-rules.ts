/** Describes the rule that an invalid argument breaks, from the zod schema of the argument. */
import { z } from "zod";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * The parameters of a zod issue (a validation error) that a rule of this project has raised, in contrast to a
 * rule of zod.
 */
export interface ZodArgumentRuleIssueParams {
  /** The error code of the validation rule that the argument breaks. */
  readonly rule: string;
}

/**
 * Returns the error code of the validation rule that an argument breaks. src/gateway/steps/validate.ts uses
 * the same codes for REST requests.
 */
export function getBrokenArgumentRuleCode(issue: z.core.$ZodIssue): string {
  if (issue.code === "custom")
    return typeof issue.params?.["rule"] === "string" ? issue.params["rule"] : "invalid";
  if (issue.code === "too_small") return hasLength(issue) ? "too_short" : "too_small";
  if (issue.code === "too_big") return hasLength(issue) ? "too_long" : "too_large";
  return ruleCodes.get(issue.code) ?? "invalid";
}

const ruleCodes: ReadonlyMap<string, string> = new Map([
  ["invalid_format", "pattern_mismatch"],
  ["invalid_type", "wrong_type"],
  ["invalid_value", "not_allowed"],
]);

const hasLength = ({ origin }: { readonly origin: string }): boolean =>
  origin === "string" || origin === "array";

/**
 * Describes the whole rule that the value of a zod issue breaks, for example `must be an integer from 1 to
 * 100`. The text is the end of a sentence, without its full stop.
 */
export function describeBrokenArgumentRule(schema: z.ZodType, issue: z.core.$ZodIssue): string {
  if (issue.code === "custom") return issue.message;
  const whole = z.toJSONSchema(schema, { io: "input" });
  if (issue.code === "invalid_key") return `must have a name of ${describeSize(asRule(whole.propertyNames))}`;
  const rule = issue.path.reduce(findRule, whole);
  if (rule.type === "integer") return `must be an integer ${describeRange(rule)}`;
  return rule.type === "string" || rule.type === "array" ? `must have ${describeSize(rule)}` : "is not valid";
}

/**
 * Returns the JSON Schema of a nested value: the schema of a list's items if `step` is an index, the schema
 * of a map's values if `step` is a key.
 */
const findRule = ({ items, additionalProperties }: JsonSchema, step: PropertyKey): JsonSchema =>
  asRule(typeof step === "number" ? items : additionalProperties);

const asRule = (rule: JsonSchema["items"]): JsonSchema =>
  typeof rule === "object" && !Array.isArray(rule) ? rule : {};

const int32Max = 2 ** 31 - 1;

const describeRange = ({ minimum = -int32Max, maximum = int32Max }: JsonSchema): string =>
  maximum >= int32Max ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;

function describeSize({ minLength, minItems, maxLength, maxItems, items }: JsonSchema): string {
  const unit = items === undefined ? "characters" : "items";
  const [min = 0, max] = [minLength ?? minItems, maxLength ?? maxItems];
  if (max === undefined) return min === 1 ? `at least 1 ${unit.slice(0, -1)}` : `at least ${min} ${unit}`;
  if (min === max) return `exactly ${min} ${unit}`;
  return min === 0 ? `at most ${max} ${unit}` : `${min} to ${max} ${unit}`;
}
