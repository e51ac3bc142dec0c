/** A broken bound of an argument or input field, told like every other failure: which field, which rule. */
import { type Failure, type FailureDetail, fail } from "#foundation/failure.ts";

/** The part of a Standard Schema issue that is read here; zod's issues carry the rest. */
interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  readonly code?: string;
  readonly format?: string;
  readonly origin?: string;
}

export function toValidationFailure(issues: readonly Issue[]): Failure {
  const details = issues.map(toDetail);
  return fail("invalid_field", { details, ...(details[0] === undefined ? {} : { message: `${details[0].field}: ${details[0].message}` }) });
}

function toDetail(issue: Issue): FailureDetail {
  const path = (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step));
  // An input type is exactly a REST body, so its fields are named as in the body: without the argument's own name.
  const steps = path[0] === "input" ? path.slice(1) : path;
  return {
    in: "body",
    field: `/${steps.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`,
    code: ruleOf(issue),
    message: issue.message,
  };
}

/** The same words for the same rules as the gateway's validation uses for JSON Schema's. */
function ruleOf({ code, origin }: Issue): string {
  const isLength = origin === "string" || origin === "array";
  if (code === "too_small") return isLength ? "too_short" : "too_small";
  if (code === "too_big") return isLength ? "too_long" : "too_large";
  if (code === "invalid_format") return "pattern_mismatch";
  if (code === "invalid_type") return "wrong_type";
  if (code === "invalid_value") return "not_allowed";
  return "invalid";
}
