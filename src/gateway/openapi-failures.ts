/** Which codes of the registry an operation may answer with: those of its kind, derived from its binding, and its own (@refuses). */
import { type FailureCode, failureKinds } from "#foundation/failure.ts";
import type { Operation } from "./contract.ts";
import type { JsonSchema } from "./shapes.ts";

/** In the registry's order; statuses outside of the contract (405, 408, 431, 5xx) may come of anything and are left out. */
export function errorCodesOf(operation: Operation): FailureCode[] {
  const codes = new Set<FailureCode>([
    "malformed_request",
    "unknown_parameter",
    // Of a query that cannot be read, also where none is known.
    "invalid_parameter",
    ...parameterCodes(operation),
    ...bodyCodes(operation),
    ...credentialCodes(operation),
    ...(operation.isIdempotent ? idempotencyCodes : []),
    ...(operation.notFound === "route_not_found" ? [] : [operation.notFound]),
    ...operation.refusals,
    "rate_limited",
  ]);
  return (Object.keys(failureKinds) as FailureCode[]).filter((code) => codes.has(code));
}

const idempotencyCodes: readonly FailureCode[] = [
  "idempotency_key_required",
  "idempotency_key_invalid",
  "idempotency_key_reused",
  "idempotency_in_progress",
];

function parameterCodes({ parameters }: Operation): FailureCode[] {
  const query = parameters.filter((parameter) => parameter.in === "query");
  if (query.length === 0) return [];
  const has = (format: string): boolean => query.some(({ schema }) => schema["format"] === format);
  return [
    ...(query.some(({ required }) => required) ? (["missing_parameter"] as const) : []),
    ...(has("locale") ? (["invalid_locale"] as const) : []),
    ...(has("country-code") ? (["unknown_market"] as const) : []),
  ];
}

function bodyCodes({ body }: Operation): FailureCode[] {
  if (body === null) return ["unexpected_body"];
  const form: FailureCode[] = ["invalid_json", "unsupported_media_type", "request_too_large", "missing_body", "unknown_field", "invalid_field"];
  return requiresField(body.schema) ? [...form, "missing_field"] : form;
}

const requiresField = ({ required = [] }: JsonSchema): boolean => required.length > 0;

function credentialCodes({ security }: Operation): FailureCode[] {
  if (security.kind === "anonymous") return [];
  const token: FailureCode[] = ["oauth_token_invalid", "oauth_token_expired", "dpop_proof_missing", "dpop_proof_invalid"];
  const key: FailureCode[] = security.kind === "api_key" ? ["api_key_invalid", "api_key_expired", "api_key_revoked"] : [];
  const suspension: FailureCode[] = security.whileSuspended ? [] : ["installation_suspended", "merchant_suspended"];
  const scope: FailureCode[] = security.scope === null ? [] : ["scope_missing"];
  return ["credentials_missing", "credentials_malformed", ...key, ...token, ...suspension, ...scope, "too_many_failed_attempts"];
}
