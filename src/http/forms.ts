/** Forms that pages send: read as application/x-www-form-urlencoded, and only where a page of this service sent them. */
import type { FastifyInstance, FastifyRequest } from "fastify";

const formBytesMax = 16 * 1024;

/** From then on the routes of this (encapsulated) server take forms and nothing else; `request.body` is a URLSearchParams. */
export function takeForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string", bodyLimit: formBytesMax }, (_request, body, parsed) =>
    parsed(null, new URLSearchParams(body.toString())),
  );
}

export const formOf = ({ body }: FastifyRequest): URLSearchParams => (body instanceof URLSearchParams ? body : new URLSearchParams());

/** Browsers say where a form was sent from; that other sites send no cookie along is the first lock, this is the second. */
export function isFromHere({ headers }: FastifyRequest, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  return (site === undefined || site === "same-origin") && (headers.origin === undefined || headers.origin === origin);
}
