/**
 * Compresses a response body only once if it is the same for all callers. Sends the body in the best encoding
 * that the browser accepts.
 */
import { promisify } from "node:util";
import { constants, brotliCompress, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { chooseContentEncoding } from "#http/content-encoding.ts";

/** A response body in three forms: uncompressed, and compressed in each of the two encodings. */
export interface ResponseBodyInAllEncodings {
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly br: Buffer;
}

export async function compressBodyInAllEncodings(plain: Buffer): Promise<ResponseBodyInAllEncodings> {
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  const [zipped, br] = await Promise.all([
    promisify(gzip)(plain),
    promisify(brotliCompress)(plain, { params: quality }),
  ]);
  return { plain, gzip: zipped, br };
}

/** Sends the body with Brotli if the browser accepts it, else with gzip, else uncompressed. */
export function sendCompressedBody(
  request: FastifyRequest,
  reply: FastifyReply,
  body: ResponseBodyInAllEncodings,
): FastifyReply {
  const encoding = chooseContentEncoding([request.headers["accept-encoding"] ?? []].flat().join(","));
  if (encoding !== undefined) void reply.header("content-encoding", encoding);
  return reply.send(encoding === undefined ? body.plain : body[encoding]);
}
