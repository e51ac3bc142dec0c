/**
 * Creates the caches for the GraphQL documents in requests. The caches are limited in number of documents and
 * in memory.
 */
import type { DocumentNode } from "graphql";
import { LRUCache } from "lru-cache";
import { trustedDocumentLimits } from "#access/trusted-documents.ts";
import type { ParsedAndCompiledGraphqlDocument } from "#mesh/prepared-document.ts";

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
  readonly delete: (text: string) => unknown;
}

/**
 * Creates two caches for Yoga: one for parsed documents, and one for the errors of documents with syntax
 * errors.
 */
export const createYogaDocumentCaches = (): {
  readonly documentCache: TextCache<DocumentNode>;
  readonly errorCache: TextCache<Error>;
} => ({
  documentCache: createCacheKeyedByDocumentText(),
  errorCache: createCacheKeyedByDocumentText(),
});

/** Creates a cache by the text of documents. Texts that are too long are not kept. */
export const createCacheKeyedByDocumentText = <Value extends object>(): TextCache<Value> =>
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
/** Milliseconds for which the cache remembers the current time: reading it sets a timer. */
const timeMsMax = 10_000;

/**
 * Creates a cache of prepared documents. Trusted documents are found by the hash of their text, and merchants
 * that have registered the same text share its entry. Each request first checks that its merchant has the
 * document, so the entry of a document that was removed is not used any more and is dropped after an hour.
 * `onRemoved` is called with the key of a document that the cache has dropped.
 */
export const createCompiledGraphqlDocumentCache = (
  onRemoved?: (key: string) => void,
): LRUCache<string, ParsedAndCompiledGraphqlDocument> =>
  new LRUCache({
    max: documentsMax,
    maxSize: programFieldsMax,
    sizeCalculation: ({ query }) => 1 + (query?.size ?? 0),
    ttl: unusedMsMax,
    ttlResolution: timeMsMax,
    updateAgeOnGet: true,
    ...(onRemoved && {
      dispose: (_document: ParsedAndCompiledGraphqlDocument, key: string) => onRemoved(key),
    }),
  });
