/** Sends documents to the graph. Returns the data, or throws a `GraphFailure` with the graph's first error. */

import type { GraphDocument } from "./documents.ts";

export interface GraphFailureDetail {
  /** A JSON pointer into the input. */
  readonly field: string;
  /** The rule that is broken. */
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

/** What a request failed with, in words for people. */
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

/** The path that the service stands below; mostly none. */
export const basePath = document.getElementById("app")?.dataset["basePath"] ?? "";
export const consolePath = `${basePath}/console`;
/** What tells the graph that the session's cookie counts; no other site can send it. */
export const consoleHeaders: Readonly<Record<string, string>> = { "x-commerce-console": "1" };

/** What the page asks by itself: a page that is only open does not keep its session in use. */
const backgroundHeaders: Readonly<Record<string, string>> = { "x-commerce-console": "background" };

export interface RequestOrigin {
  /** Nobody has done anything: the page asks because something happened. */
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
      `The service answered with something that cannot be read (status ${response.status}). Try again in a moment.`,
    );
  }
}

const lastReturn = "console-signed-out-at";
const returnEveryMs = 10_000;

/**
 * The page asks who is there: whoever signs in comes back to where they were. A page that still thinks that
 * somebody is signed in must not do it for ever.
 */
export function reloadForSignIn(): void {
  const last = Number(sessionStorage.getItem(lastReturn) ?? 0);
  if (Date.now() - last < returnEveryMs) return;
  sessionStorage.setItem(lastReturn, String(Date.now()));
  location.reload();
}

/** Whatever was thrown, as something to show. */
export const toGraphFailure = (error: unknown): GraphFailure =>
  error instanceof GraphFailure
    ? error
    : new GraphFailure("Something went wrong in this page. Load it again.");
