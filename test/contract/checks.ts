/** Checks that must hold for every answer to an operation of the contract. Each fault is a sentence. */
import type { DeclaredAnswer, DocumentOperation } from "./document.ts";
import type { WireAnswer, Sent } from "./wire.ts";

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly requestId: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | null;
  readonly details: readonly {
    readonly in: string;
    readonly field: string;
    readonly code: string;
    readonly message: string;
  }[];
}

export function errorOf({ json }: WireAnswer): ErrorBody | undefined {
  return (json as { readonly error?: ErrorBody } | undefined)?.error;
}

/** The statuses that any request can get, each with its only code. */
const elsewhere: ReadonlyMap<number, string> = new Map([
  [405, "method_not_allowed"],
  [431, "headers_too_large"],
]);

/** A 404 that is sent before an operation is found. */
const beforeRoute = "route_not_found";

const requestId = /^req_[0-9a-hjkmnp-tv-z]{26}$/;

export function faultsOf(operation: DocumentOperation, { method }: Sent, answer: WireAnswer): string[] {
  const { status, headers } = answer;
  const declared =
    operation.answers.get(status) ?? (elsewhere.has(status) ? operation.answers.get(400) : undefined);
  if (declared === undefined) return [`The status ${status} is not declared.`];
  return [
    ...(requestId.test(headers["x-request-id"] ?? "") ? [] : [`X-Request-Id is ${headers["x-request-id"]}.`]),
    ...(headers["content-type"] === "application/json; charset=utf-8"
      ? []
      : [`The content type is ${headers["content-type"]}.`]),
    ...(headers["cache-control"] === undefined ? ["Cache-Control is missing."] : []),
    ...declared.headers.flatMap(({ name, check }) =>
      check(headers[name]).length === 0 ? [] : [`The header ${name} is ${headers[name]}.`],
    ),
    ...(method === "HEAD" ? emptyFaults(answer) : bodyFaults(operation, declared, answer)),
  ];
}

const emptyFaults = ({ text }: WireAnswer): string[] => (text === "" ? [] : ["There is a body after HEAD."]);

function bodyFaults(operation: DocumentOperation, declared: DeclaredAnswer, answer: WireAnswer): string[] {
  const { status, headers, json } = answer;
  const shape = declared.check(json);
  if (status === 200) return [...shape, ...stabilityFaults(operation, answer)];
  const error = errorOf(answer);
  if (error === undefined) return [...shape, "There is no error in the body."];
  return [
    ...shape,
    ...codeFaults(operation, declared, { status, code: error.code }),
    ...(error.requestId === headers["x-request-id"]
      ? []
      : ["requestId is another in the body than in the header."]),
    ...textFaults(error),
    ...waitFaults(error, answer),
    ...challengeFaults(answer),
  ];
}

const stabilityFaults = ({ stability }: DocumentOperation, { headers }: WireAnswer): string[] =>
  headers["x-api-stability"] === stability ? [] : [`X-Api-Stability is ${headers["x-api-stability"]}.`];

function codeFaults(
  operation: DocumentOperation,
  { codes }: DeclaredAnswer,
  { status, code }: { status: number; code: string },
): string[] {
  const only = elsewhere.get(status);
  if (only !== undefined) return code === only ? [] : [`${status} says ${code}.`];
  return [
    ...(codes.has(code) ? [] : [`${code} is not a code of ${status}.`]),
    ...(operation.errorCodes.has(code) || (status === 404 && code === beforeRoute)
      ? []
      : [`${code} is not a code of the operation.`]),
  ];
}

/** Match texts that only internals produce: stack traces, driver errors, values printed by mistake. */
const machinery: readonly RegExp[] = [
  /node_modules|\.[jt]s:\d|\n\s*at |\b\w*Error\b/i,
  /SQLSTATE|\brelation "|violates|duplicate key|invalid (?:input|byte)|pglite|postgres|kysely|ECONN|EPIPE/i,
  /\bundefined\b|\bNaN\b|\[object|\$variable|GraphQL|Cannot (?:read|return|query)|ajv/i,
];
const isInternal = (text: string): boolean => machinery.some((pattern) => pattern.test(text));

function textFaults({ message, details }: ErrorBody): string[] {
  const texts = [message, ...details.map((detail) => detail.message)];
  return texts
    .filter((text) => isInternal(text) || !/\S\.$/u.test(text))
    .map((text) => `A message says: ${text.slice(0, 200)}`);
}

function waitFaults(
  { code, retryable, retryAfterSeconds }: ErrorBody,
  { status, headers }: WireAnswer,
): string[] {
  const header = headers["retry-after"];
  const expectedWait = retryAfterSeconds === null ? undefined : String(retryAfterSeconds);
  const isLimit = status === 429;
  return [
    ...(header === expectedWait ? [] : [`Retry-After is ${header}, and the body says ${retryAfterSeconds}.`]),
    ...(isLimit && !(Number(header) >= 1) ? [`${code} does not say when to come again.`] : []),
    ...(isLimit && !retryable ? [`${code} is not to be tried again.`] : []),
  ];
}

function challengeFaults({ status, headers }: WireAnswer): string[] {
  const challenge = headers["www-authenticate"];
  if (status === 401)
    return /^(?:Bearer realm=|DPoP algs=)/.test(challenge ?? "") ? [] : [`WWW-Authenticate is ${challenge}.`];
  if (status === 403)
    return challenge?.includes('error="insufficient_scope"') === true
      ? []
      : [`WWW-Authenticate is ${challenge}.`];
  return challenge === undefined ? [] : [`${status} has a challenge.`];
}

/** Describes a request in a report so that it can be repeated, without its secrets. */
export function shownOf({ method, url, headers, body }: Sent): string {
  const lines = headers.map(
    ([name, value]) =>
      `${name}: ${name.toLowerCase() === "authorization" ? `${value.slice(0, 10)}…` : value.slice(0, 80)}`,
  );
  return (
    `${method} ${url.slice(0, 200)} [${lines.join("; ")}] ` +
    (body === null ? "" : body.toString("utf8").slice(0, 400))
  );
}
