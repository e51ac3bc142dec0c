import { field, parseJson, textOf } from "./json.js";
/** A request that got no answer or was refused. `status` is null if there was no answer. */
export class RequestFailed extends Error {
  status;
  code;
  retryAfterSeconds;
  constructor(message, { status, code, retryAfterSeconds }) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
  /** Whether the same request can succeed later. */
  get isTemporary() {
    return this.status === null || this.status === 429 || this.status >= 500;
  }
}
/** Sends a request and returns the answer, whatever its status is. Throws if there is no answer. */
export async function send(url, path, given = {}) {
  const { method = "GET", body, signal, credential } = given;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(credential === undefined ? {} : toHeaders(credential, url)),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error) => {
    throw signal?.aborted === true ? error : toConnectionFailure(url, error);
  });
  const text = await response.text().catch((error) => {
    throw signal?.aborted === true ? error : toConnectionFailure(url, error);
  });
  return { status: response.status, headers: response.headers, body: parseJson(text) };
}
/** Sends a request, and throws if the answer is not 2xx. */
export async function request(target, path, given = {}) {
  const answer = await send(target.url, path, { credential: target.credential, ...given });
  if (answer.status >= 200 && answer.status < 300) return answer.body;
  throw toRefusal(answer, field(answer.body, "error"));
}
/** Runs a GraphQL document and returns its data. */
export async function graph(target, query, variables = {}) {
  const { credential } = target;
  const answer = await send(target.url, "/graphql", {
    method: "POST",
    body: { query, variables },
    credential,
  });
  const errors = field(answer.body, "errors");
  const first = Array.isArray(errors) ? errors[0] : undefined;
  if (first !== undefined || answer.status >= 400)
    throw toRefusal(answer, field(first, "extensions") ?? first);
  return field(answer.body, "data");
}
function toRefusal({ status, headers }, error) {
  const code = textOf(error, "code") ?? null;
  const details = field(error, "details");
  const [detail] = Array.isArray(details) ? details : [];
  const message = textOf(detail, "message") ?? textOf(error, "message") ?? `The service answered ${status}.`;
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  return new RequestFailed(code === null ? message : `${message} (${code})`, {
    status,
    code,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
  });
}
function toConnectionFailure(url, error) {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = textOf(cause, "code") ?? (cause instanceof Error ? cause.message : "no answer");
  return new RequestFailed(
    `The service at ${url} does not answer (${reason}). Start it with \`npm start\`, or set --url.`,
    { status: null, code: null, retryAfterSeconds: null },
  );
}
function toHeaders(credential, url) {
  if (credential.kind !== "session") return { authorization: `Bearer ${credential.value}` };
  // The session of a login is a session of the console: the service accepts it with these headers.
  return { cookie: credential.value, origin: new URL(url).origin, "x-commerce-console": "1" };
}
