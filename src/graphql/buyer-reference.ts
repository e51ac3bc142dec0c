/** Whom an internal frontend serves: the header X-Buyer-Reference, the frontend's own stable name for the buyer, never an e-mail or a name. */
import type { FastifyRequest } from "fastify";
import { failAt } from "#foundation/failure.ts";
import { isBuyerReference } from "#foundation/text.ts";

/** Null where the header is not sent. Throws where it is malformed: taking it for nobody would show a buyer somebody else's things. */
export function buyerReferenceOf(request: FastifyRequest): string | null {
  const value = request.headers["x-buyer-reference"];
  if (value === undefined) return null;
  if (typeof value === "string" && isBuyerReference(value)) return value;
  const message = "X-Buyer-Reference has 1 to 128 printable ASCII characters without space and @.";
  throw failAt("malformed_request", { in: "header", field: "X-Buyer-Reference", code: "pattern_mismatch", message });
}
