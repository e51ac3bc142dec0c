/**
 * Creates the caches for the GraphQL documents in requests. The caches are limited in number of documents and
 * in memory.
 */
import type { DocumentNode } from "graphql";
import { LRUCache } from "lru-cache";
import { trustedDocumentLimits } from "#access/trusted-documents.ts";
import type { PreparedGraphqlDocument } from "#mesh/prepared-document.ts";

const documentsMax = 1_000;
/**
 * Maximum length in characters of a document that is cached. Longer documents are parsed again for every
 * request, because a parsed document needs memory in proportion to its text. `documentsLengthMax` limits the
 * total length per cache.
 */
const documentLengthMax = trustedDocumentLimits.lengthMax;
const documentsLengthMax = 8 * 1024 * 1024;

interface TextCache<Value extends object> {
  readonly get: (text: string) => Value | undefined;
  readonly set: (text: string, value: Value) => unknown;
}

/**
 * Creates two caches for Yoga: one for parsed documents, and one for the errors of documents with syntax
 * errors.
 */
export const createGraphqlDocumentCaches = (): {
  readonly documentCache: TextCache<DocumentNode>;
  readonly errorCache: TextCache<Error>;
} => ({
  documentCache: createTextCache(),
  errorCache: createTextCache(),
});

const createTextCache = <Value extends object>(): TextCache<Value> =>
  new LRUCache<string, Value>({
    max: documentsMax,
    maxSize: documentsLengthMax,
    maxEntrySize: documentLengthMax,
    sizeCalculation: (_value, text) => text.length + 1,
  });

/**
 * The maximum size of the cache of prepared documents: the total number of selected fields in all their
 * compiled queries.
 */
const programFieldsMax = 8_000;
/** Milliseconds after which a prepared document is removed from the cache if no request has used it. */
const unusedMsMax = 3_600_000;

/**
 * Creates the cache of prepared trusted documents, by the hash of their text. Merchants with the same
 * document share its entry. Every request first checks that its merchant has registered the document. The
 * entry of a removed document is therefore not used any more, and expires after an hour.
 */
export const createPreparedGraphqlDocumentCache = (): LRUCache<string, PreparedGraphqlDocument> =>
  new LRUCache({
    max: documentsMax,
    maxSize: programFieldsMax,
    sizeCalculation: ({ query }) => 1 + (query?.size ?? 0),
    ttl: unusedMsMax,
    updateAgeOnGet: true,
  });
