/** Sends documents to GraphQL. Returns the data, or throws a `GraphFailure` with the first error. */

import type { GraphDocument } from "./documents.ts";

export interface GraphFailureDetail {
  /** JSON pointer to the invalid input field. */
  readonly field: string;
  /** Code of the broken rule, for example `too_long`. */
  readonly code: string;
  readonly message: string;
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly requestId: string;
  readonly docUrl: string;
  readonly details: readonly GraphFailureDetail[];
}

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions?: Partial<ErrorBody> }[];
}

/** The failure of a GraphQL request, with a message for people. */
export class GraphFailure extends Error {
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly docUrl: string | undefined;
  readonly details: readonly GraphFailureDetail[];
  constructor(message: string, body: Partial<ErrorBody> = {}) {
    super(message);
    this.code = body.code;
    this.requestId = body.requestId;
    this.docUrl = body.docUrl;
    this.details = body.details ?? [];
  }
}

/** The service's base path; usually empty. */
export const basePath = document.getElementById("app")?.dataset["basePath"] ?? "";
export const consolePath = `${basePath}/console`;
/** The header with which GraphQL accepts the session's cookie. Other sites cannot send this header. */
export const consoleHeaders: Readonly<Record<string, string>> = { "x-commerce-console": "1" };

/** Header of background requests. They do not extend the session. */
const backgroundHeaders: Readonly<Record<string, string>> = { "x-commerce-console": "background" };

export interface RequestOrigin {
  /**
   * True if an event or a timer causes the request, not an action of the staff member. Such a background
   * request does not extend the session.
   */
  readonly isBackground: boolean;
}

export async function requestGraph<Result, Variables extends object>(
  document: GraphDocument<Result, Variables>,
  variables: Variables,
  { isBackground }: RequestOrigin = { isBackground: false },
): Promise<Result> {
  const response = await send(
    JSON.stringify({ query: document, variables }),
    isBackground ? backgroundHeaders : consoleHeaders,
  );
  const answer = await read(response);
  const [error] = answer.errors ?? [];
  if (response.status === 401) reloadForSignIn();
  if (error !== undefined) throw new GraphFailure(error.message, error.extensions);
  return answer.data as Result;
}

async function send(body: string, marks: Readonly<Record<string, string>>): Promise<Response> {
  try {
    const headers = { ...marks, "content-type": "application/json", accept: "application/json" };
    return await fetch(`${basePath}/graphql`, { method: "POST", headers, body });
  } catch {
    throw new GraphFailure("The service could not be reached. Check the connection and try again.");
  }
}

async function read(response: Response): Promise<Answer> {
  try {
    return (await response.json()) as Answer;
  } catch {
    throw new GraphFailure(
      `The service sent an unreadable response (status ${response.status}). Try again in a moment.`,
    );
  }
}

const lastReturn = "console-signed-out-at";
const returnEveryMs = 10_000;

/**
 * Reloads the page. The service then shows the sign-in page and afterwards returns to this page. Reloads at
 * most once in ten seconds, to avoid a loop.
 */
export function reloadForSignIn(): void {
  const last = Number(sessionStorage.getItem(lastReturn) ?? 0);
  if (Date.now() - last < returnEveryMs) return;
  sessionStorage.setItem(lastReturn, String(Date.now()));
  location.reload();
}

/** Converts any thrown value into a `GraphFailure`. */
export const toGraphFailure = (error: unknown): GraphFailure =>
  error instanceof GraphFailure
    ? error
    : new GraphFailure("Something went wrong in this page. Load it again.");
