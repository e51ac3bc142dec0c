/**
 * Reads the errors of a GraphQL answer, with the position of each error, and loads the service's explanations
 * of error codes.
 */

export interface GraphqlErrorDetail {
  readonly field: string;
  readonly message: string;
  readonly allowed?: readonly string[] | null;
}

export interface GraphqlAnswerError {
  readonly message: string;
  /**
   * The error's code in docs/errors.md; undefined if the error has no code, for example because the request
   * did not reach the service.
   */
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /**
   * The position of the error as text: the line and column in the GraphQL document, and the field of the
   * answer. Empty if the error has no position.
   */
  readonly place: string;
  readonly details: readonly GraphqlErrorDetail[];
}

interface GraphqlError {
  readonly message?: unknown;
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly path?: readonly (string | number)[];
  readonly extensions?: {
    readonly code?: string;
    readonly requestId?: string;
    readonly details?: readonly GraphqlErrorDetail[];
  };
}

export function readErrorsOfGraphqlAnswer(answer: unknown): readonly GraphqlAnswerError[] {
  if (typeof answer !== "object" || answer === null || !("errors" in answer)) return [];
  if (!Array.isArray(answer.errors)) return [];
  const errors: readonly GraphqlError[] = answer.errors;
  return errors.map(({ message, locations, path, extensions = {} }) => ({
    message: typeof message === "string" ? message : "The operation failed.",
    code: extensions.code,
    requestId: extensions.requestId,
    place: placeOf(locations?.[0], path),
    // Drops error details that repeat the error's message and have no list of allowed values, because they
    // add no information.
    details: (extensions.details ?? []).filter(
      (detail) => detail.message !== message || (detail.allowed ?? []).length > 0,
    ),
  }));
}

function placeOf(
  location: { readonly line: number; readonly column: number } | undefined,
  path: readonly (string | number)[] | undefined,
): string {
  const parts = [
    ...(path === undefined || path.length === 0 ? [] : [`field ${path.join(".")}`]),
    ...(location === undefined ? [] : [`line ${location.line}, column ${location.column}`]),
  ];
  return parts.join(", ");
}

/** The explanation of an error code: why the error occurs and how to fix it, as Markdown without links. */
export interface ErrorExplanation {
  readonly why: string;
  readonly remedy: string;
}

export type ErrorExplanationsByCode = Readonly<Record<string, ErrorExplanation>>;

/** Loads the explanations of all error codes. The build has copied them from docs/errors.md. */
export async function loadErrorExplanations(url: string): Promise<ErrorExplanationsByCode> {
  const loaded: { readonly default: ErrorExplanationsByCode } = await import(/* @vite-ignore */ url);
  return loaded.default;
}
