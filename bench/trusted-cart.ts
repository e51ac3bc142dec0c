/**
 * The cart document of the scenario `graphql`, sent as a text of its own in each request, or named by its
 * hash.
 */
import type { Client } from "pg";
import { hashDocument } from "#access/trusted-documents.ts";
import { createId } from "#foundation/ids.ts";
import { readDocument } from "./scenario.ts";

const cartDocument = readDocument("carts/getPublicCart");

/** The parameter of a request that names the cart document. */
export const trustedCartId = `sha256:${hashDocument(cartDocument)}`;

/** Registers the cart document for a merchant. */
export async function addTrustedCart(client: Client, merchantId: string): Promise<void> {
  await client.query(
    `insert into trusted_document (id, merchant_id, sha256, name, operation, document, created_at)
     values ($1, $2, $3, 'getPublicCart', 'query', $4, now())`,
    [createId("trustedDocument"), merchantId, hashDocument(cartDocument), cartDocument],
  );
}

let texts = 0;

/** Returns the document with a comment that no other text has. */
export const withOwnComment = (document: string): string => `${document}\n# ${(texts += 1)}`;
