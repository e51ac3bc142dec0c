/**
 * Variants of the cart document of the scenario `graphql`: as a trusted document that requests name by its
 * hash, and as a text that differs in each request.
 */
import type { Client } from "pg";
import { hashGraphqlDocumentText } from "#access/trusted-documents.ts";
import { createId } from "#foundation/ids.ts";
import { readDocument } from "./scenario.ts";

const cartDocument = readDocument("carts/getPublicCart");

/** The `documentId` of the cart document. */
export const trustedCartDocumentId = `sha256:${hashGraphqlDocumentText(cartDocument)}`;

/** Registers the cart document as a trusted document of a merchant. */
export async function registerTrustedCartDocument(client: Client, merchantId: string): Promise<void> {
  await client.query(
    `insert into trusted_document (id, merchant_id, sha256, name, operation, document, created_at)
     values ($1, $2, $3, 'getPublicCart', 'query', $4, now())`,
    [createId("trustedDocument"), merchantId, hashGraphqlDocumentText(cartDocument), cartDocument],
  );
}

let texts = 0;

/** Returns the document with a unique comment, so that no server has the text in a cache. */
export const withUniqueComment = (document: string): string => `${document}\n# ${(texts += 1)}`;
