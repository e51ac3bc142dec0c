/**
 * Sends answers of which a large part changes only with a release of the service, for example the event
 * catalogue. A client that already has the answer sends the answer's ETag as `If-None-Match`, and gets status
 * 304 if nothing has changed. If only the other part has changed, a client that sends `Prefer:
 * return=minimal` (RFC 7240) gets the answer without the constant part.
 */
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isEntityTagKnownToClient, parseEntityTags } from "#http/entity-tags.ts";

/** The object `data` in the body of an answer. */
type AnswerData = Readonly<Record<string, unknown>>;

interface RevalidatedRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Renders the whole answer (not the shorter form for `Prefer: return=minimal`) as text. */
  readonly render: () => string;
}

/**
 * Sets the headers of an answer and returns the text of its body. Returns null if the status is 304, which
 * has no body.
 */
export type ResponseBodyOr304Renderer = (data: AnswerData, call: RevalidatedRequest) => string | null;

const hash = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 16);

const wantsMinimal = ({ headers }: FastifyRequest): boolean =>
  /(?:^|[,;])\s*return\s*=\s*"?minimal"?\s*(?:$|[,;])/i.test([headers["prefer"] ?? ""].flat().join(","));

/**
 * Creates the renderer for answers with a field that never changes while the process runs (`constantField`).
 * The ETag consists of two hashes: that of the constant field, which is computed once, and that of the rest
 * of the answer. If the client already has the constant field and sends `Prefer: return=minimal`, the answer
 * has an empty list in its place.
 */
export function createResponseBodyOr304Renderer(constantField: string): ResponseBodyOr304Renderer {
  let constantHash: string | undefined;
  return (data, { request, reply, render }) => {
    constantHash ??= hash(JSON.stringify(data[constantField]));
    const { [constantField]: _constant, ...rest } = data;
    const etag = `W/"${constantHash}.${hash(JSON.stringify(rest))}"`;
    void reply.header("etag", etag);
    const known = request.headers["if-none-match"];
    if (isEntityTagKnownToClient(known, etag)) {
      void reply.code(304);
      return null;
    }
    const isConstantKnown = parseEntityTags(known).some((tag) => tag.startsWith(`"${constantHash}.`));
    if (!isConstantKnown || !wantsMinimal(request)) return render();
    void reply.header("preference-applied", "return=minimal");
    return JSON.stringify({ data: { ...data, [constantField]: [] } });
  };
}
