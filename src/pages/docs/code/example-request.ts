/**
 * Creates the example request of an operation. The code examples in all languages are written from this
 * request.
 */
import type { OpenApiDocumentOperation } from "#pages/docs/api-document.ts";
import type { RequestExampleValues } from "#pages/docs/examples.ts";

export interface ExampleHttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | null;
  /**
   * The request that must be sent first, because the example request would fail without it; null if there is
   * none.
   */
  readonly before: ExampleHttpRequest | null;
  /**
   * The URL from which the example reads the cart's version, to send it as `expectedVersion`; null if the
   * request needs no version.
   */
  readonly versionUrl: string | null;
}

/**
 * The code comment in examples that remove a promotion code. It explains that the example first applies a
 * code, so that the cart has a code to remove.
 */
export const promotionCodeFirstNote = "Applies a code first, so that the request can remove it.";

/**
 * The environment variables, in the notation of a shell, from which the examples read the API key, access
 * token and DPoP proof.
 */
const [key, token, proof] = ["$KEY", "$ACCESS_TOKEN", "$DPOP_PROOF"];
export const newIdempotencyKeyPlaceholder = "$NEW_IDEMPOTENCY_KEY";

export function createExampleHttpRequest(
  operation: OpenApiDocumentOperation,
  example: RequestExampleValues,
  publicUrl: string,
): ExampleHttpRequest {
  const { method, credential, isIdempotent } = operation;
  const authorization = {
    none: {},
    key: { Authorization: `Bearer ${key}` },
    token: { Authorization: `DPoP ${token}`, DPoP: proof },
  }[credential];
  const request: ExampleHttpRequest = {
    method,
    url: getExampleRequestUrl(operation, example, publicUrl),
    headers: {
      ...authorization,
      ...(isIdempotent ? { "Idempotency-Key": newIdempotencyKeyPlaceholder } : {}),
      ...(example.body === null ? {} : { "Content-Type": "application/json" }),
    },
    body: example.body,
    before: null,
    versionUrl:
      example.versionOf === null ? null : `${publicUrl}/api/v1/open/storefront/carts/${example.versionOf}`,
  };
  const { codeBefore: code } = example;
  return code === null
    ? request
    : { ...request, before: { ...request, method: "PUT", body: { code }, versionUrl: null } };
}

export function getExampleRequestUrl(
  { path, parameters }: Pick<OpenApiDocumentOperation, "path" | "parameters">,
  example: RequestExampleValues,
  publicUrl: string,
): string {
  const filledPath = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(example.parameters[name] ?? ""),
  );
  const queryParameters = parameters.flatMap(({ name, in: where }) => {
    const value = example.parameters[name];
    return where === "query" && value !== undefined ? [[name, value]] : [];
  });
  const query = new URLSearchParams(queryParameters).toString();
  return `${publicUrl}${filledPath}${queryParameters.length === 0 ? "" : `?${query}`}`;
}
