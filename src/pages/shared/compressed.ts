/** Answers that are the same for everybody: compressed once, sent in the best form that the browser takes. */
import { promisify } from "node:util";
import { constants, brotliCompress, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

/** A text with what it is when compressed. */
export interface CompressedBody {
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly br: Buffer;
}

export async function compressBody(plain: Buffer): Promise<CompressedBody> {
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  const [zipped, br] = await Promise.all([
    promisify(gzip)(plain),
    promisify(brotliCompress)(plain, { params: quality }),
  ]);
  return { plain, gzip: zipped, br };
}

/** In the best form that the browser takes. */
export function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  body: CompressedBody,
): FastifyReply {
  const accepted = request.headers["accept-encoding"] ?? "";
  const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : undefined;
  if (encoding !== undefined) void reply.header("content-encoding", encoding);
  return reply.send(encoding === undefined ? body.plain : body[encoding]);
}
