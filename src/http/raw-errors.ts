/** What Node refuses before there is a request (broken HTTP, too large headers, too slow) would have no body: it gets the contract's. */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { createId } from "#foundation/ids.ts";
import { type FailureCode, fail, toErrorBody } from "#foundation/failure.ts";

const codes: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** Of browsers that came by https once: they do not ask in the clear again. */
const onlyHttps = "max-age=31536000";

const always = { "x-content-type-options": "nosniff" } as const;
const overHttps = { ...always, "strict-transport-security": onlyHttps } as const;

/** What every answer says to browsers. */
export function browserHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return publicUrl.startsWith("https:") ? overHttps : always;
}

export function answerClientError(error: Error & { readonly code?: string }, socket: Socket, publicUrl: string): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const failure = fail(codes[error.code ?? ""] ?? "malformed_request");
  const requestId = createId("request");
  const body = JSON.stringify({ error: toErrorBody(failure, requestId, publicUrl) });
  socket.end(
    [
      `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ""}`,
      "Content-Type: application/json; charset=utf-8",
      "Cache-Control: no-store",
      `X-Request-Id: ${requestId}`,
      ...Object.entries(browserHeaders(publicUrl)).map(([name, value]) => `${name}: ${value}`),
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}
