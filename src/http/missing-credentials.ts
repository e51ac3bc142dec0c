/**
 * Says what is wrong with credentials that the service cannot read. For example, a key is in another header
 * or in the query string, or the Authorization header is not well-formed. The messages never contain a part
 * of the credentials.
 */
import type { FastifyRequest } from "fastify";
import type { BearerOrDpopScheme } from "#access/authorization.ts";
import { createFailure, type Failure, type FailureDetail } from "#foundation/failure.ts";

/** Names of headers in which other APIs expect a key, spelled as in the documentation of those APIs. */
const otherHeaders: Readonly<Record<string, string>> = {
  "x-api-key": "X-API-Key",
  "api-key": "Api-Key",
  apikey: "ApiKey",
  "x-auth-token": "X-Auth-Token",
  "x-access-token": "X-Access-Token",
};

/** Query parameters in which other APIs expect a key or a token. */
const otherParameters = /[?&](api[_-]?key|access_token|token|key)=/i;

const internalTokenRemedy =
  "Send the header `Authorization: Bearer` with an internal token (cit_…): `token create` creates a token, and " +
  "the file demo.json has those of the demo.";

/**
 * Returns the sentence that says which credential a route needs. `schemes` are the authorization schemes that
 * the route accepts.
 */
function describeCredential(schemes: readonly BearerOrDpopScheme[]): string {
  if (!schemes.includes("bearer")) return "Send the header `Authorization: DPoP` with an OAuth access token.";
  // Routes of the REST API and of AI agents also accept OAuth access tokens; routes of GraphQL do not.
  return schemes.includes("dpop")
    ? "Send the header `Authorization: Bearer` with the key."
    : internalTokenRemedy;
}

/**
 * Returns the failure of a request without an Authorization header. If the request has a key elsewhere, the
 * failure names that place. `schemes` are the authorization schemes that the route accepts.
 */
export function createMissingCredentialsFailure(
  { headers, raw }: FastifyRequest,
  schemes: readonly BearerOrDpopScheme[],
): Failure {
  const remedy = describeCredential(schemes);
  const header = Object.keys(otherHeaders).find((name) => headers[name] !== undefined);
  const [, parameter] = otherParameters.exec(raw.url ?? "") ?? [];
  if (header === undefined && parameter === undefined)
    return createFailure("credentials_missing", {
      message: `The request has no credentials. ${remedy}`,
    });
  const field = header === undefined ? (parameter ?? "") : (otherHeaders[header] ?? header);
  const place = header === undefined ? `the parameter ${field} of the query string` : `the header ${field}`;
  const message = `The service does not read credentials in ${place}. ${remedy}`;
  const detail: FailureDetail = {
    in: header === undefined ? "query" : "header",
    field,
    code: "credentials_misplaced",
    message,
    allowed: ["Authorization"],
  };
  return createFailure("credentials_missing", { message, details: [detail] });
}

const secretForm = /^(?:cpk|cit|cbs)_/;

/** Returns the error message for the trimmed value of an Authorization header that is not well-formed. */
export function describeMalformedAuthorizationHeader(value: string): string {
  if (secretForm.test(value))
    return "The Authorization header has no scheme: send `Bearer`, a space and the key.";
  const [, scheme = "", rest = ""] = /^(bearer|dpop)(?:$|\s+(.*)$)/is.exec(value) ?? [];
  if (scheme === "")
    return "The Authorization header must be `Bearer` and the key, or `DPoP` and the access token.";
  const [name, secret] =
    scheme.toLowerCase() === "dpop" ? (["DPoP", "access token"] as const) : (["Bearer", "key"] as const);
  if (rest === "") return `The Authorization header has nothing after \`${name}\`: the ${secret} is missing.`;
  return (
    `The Authorization header must have only the ${secret} after \`${name}\` and a space: ` +
    "no quotation marks, brackets or further spaces."
  );
}
