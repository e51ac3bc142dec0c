/**
 * Sends GraphQL documents to the service. `sendGraphqlRequest` returns the data of the answer, or throws a
 * `GraphqlRequestError` that contains the first error of the answer.
 */

import type { ConsoleGraphqlDocument } from "./documents.ts";

export interface GraphqlRequestErrorDetail {
  /** The JSON pointer of the invalid input field. */
  readonly field: string;
  /** The code of the rule that the field's value breaks, for example `too_long`. */
  readonly code: string;
  readonly message: string;
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly requestId: string;
  readonly docUrl: string;
  readonly details: readonly GraphqlRequestErrorDetail[];
}

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions?: Partial<ErrorBody> }[];
}

/** The error of a GraphQL request, with a message that staff members can read. */
export class GraphqlRequestError extends Error {
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly docUrl: string | undefined;
  readonly details: readonly GraphqlRequestErrorDetail[];
  constructor(message: string, body: Partial<ErrorBody> = {}) {
    super(message);
    this.code = body.code;
    this.requestId = body.requestId;
    this.docUrl = body.docUrl;
    this.details = body.details ?? [];
  }
}

/**
 * The path of the service's public URL, a prefix of all the service's paths. Empty if the public URL has no
 * path.
 */
export const basePath = document.getElementById("app")?.dataset["basePath"] ?? "";
export const consolePath = `${basePath}/console`;
/**
 * The header that makes `/graphql` accept the cookie of the console's session. Pages of other sites cannot
 * send this header.
 */
export const consoleHeaders: Readonly<Record<string, string>> = { "x-commerce-console": "1" };

/** The header of background requests, which do not extend the staff member's session. */
const backgroundHeaders: Readonly<Record<string, string>> = { "x-commerce-console": "background" };

export interface GraphqlRequestOptions {
  /**
   * True if an event or a timer causes the request, in contrast to an action of the staff member. Such
   * background requests do not extend the session.
   */
  readonly isBackground: boolean;
}

export async function sendGraphqlRequest<Result, Variables extends object>(
  document: ConsoleGraphqlDocument<Result, Variables>,
  variables: Variables,
  { isBackground }: GraphqlRequestOptions = { isBackground: false },
): Promise<Result> {
  const response = await send(
    JSON.stringify({ query: document, variables }),
    isBackground ? backgroundHeaders : consoleHeaders,
  );
  const answer = await read(response);
  const [error] = answer.errors ?? [];
  if (response.status === 401) reloadPageToShowSignIn();
  if (error !== undefined) throw new GraphqlRequestError(error.message, error.extensions);
  return answer.data as Result;
}

async function send(body: string, marks: Readonly<Record<string, string>>): Promise<Response> {
  try {
    const headers = { ...marks, "content-type": "application/json", accept: "application/json" };
    return await fetch(`${basePath}/graphql`, { method: "POST", headers, body });
  } catch {
    throw new GraphqlRequestError("The service could not be reached. Check the connection and try again.");
  }
}

async function read(response: Response): Promise<Answer> {
  try {
    return (await response.json()) as Answer;
  } catch {
    throw new GraphqlRequestError(
      `The service sent an unreadable response (status ${response.status}). Try again in a moment.`,
    );
  }
}

const lastReturn = "console-signed-out-at";
const returnEveryMs = 10_000;

/**
 * Reloads the page after the session has ended, so that the service shows the sign-in page. After the
 * sign-in, the same console page opens again. Reloads at most once in ten seconds, to avoid an endless loop.
 */
export function reloadPageToShowSignIn(): void {
  const last = Number(sessionStorage.getItem(lastReturn) ?? 0);
  if (Date.now() - last < returnEveryMs) return;
  sessionStorage.setItem(lastReturn, String(Date.now()));
  location.reload();
}

/** Converts any thrown value into a `GraphqlRequestError`. */
export const toGraphqlRequestError = (error: unknown): GraphqlRequestError =>
  error instanceof GraphqlRequestError
    ? error
    : new GraphqlRequestError("Something went wrong in this page. Load it again.");
