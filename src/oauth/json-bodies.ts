/**
 * Checks the JSON bodies of requests that oidc-provider answers. oidc-provider would read the body from the
 * request itself and parse it with JSON.parse, which accepts an object with two members of the same name. The
 * checked bytes are therefore put into a copy of the request, from which oidc-provider reads them.
 */
import { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { parseJsonBody } from "#http/body.ts";

/**
 * Makes the routes of a Fastify plugin check JSON bodies by the same rules as all other routes of the
 * service.
 */
export function registerCheckedJsonBodyParser(server: FastifyInstance): void {
  server.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, checkJsonBody);
}

async function checkJsonBody(_request: FastifyRequest, bytes: Buffer): Promise<Buffer> {
  parseJsonBody(bytes);
  return bytes;
}

/**
 * Returns the Node request from which oidc-provider can read the body. If the body was JSON, this is a copy
 * of the request with the checked body. Otherwise, it is the request itself, whose body was not read yet.
 */
export function toRequestWithReadableBody({ raw, body }: FastifyRequest): IncomingMessage {
  if (!Buffer.isBuffer(body)) return raw;
  const { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor, socket } = raw;
  const copy = Object.assign(new IncomingMessage(socket), {
    method,
    url,
    headers,
    rawHeaders,
    httpVersion,
    httpVersionMajor,
    httpVersionMinor,
    complete: true,
  });
  copy.push(body);
  copy.push(null);
  return copy;
}
