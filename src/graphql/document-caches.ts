/**
 * Caches of parsed GraphQL documents for Yoga, the GraphQL server library. Each cache has a limited number of
 * entries and limited memory.
 */
import type { DocumentNode } from "graphql";
import { LRUCache } from "lru-cache";
import { trustedDocumentLimits } from "#access/trusted-documents.ts";

const documentsMax = 1_000;
/**
 * Maximum length in characters of a document that is cached. Longer documents are parsed again for every
 * request, because the memory of a parsed document grows with its text. `documentsLengthMax` limits the total
 * length of all documents in one cache.
 */
const documentLengthMax = trustedDocumentLimits.lengthMax;
const documentsLengthMax = 8 * 1024 * 1024;

interface TextCache<Value extends object> {
  readonly get: (text: string) => Value | undefined;
  readonly set: (text: string, value: Value) => unknown;
}

/** Creates two caches: one of parsed documents, and one of the errors of documents that cannot be parsed. */
export const createDocumentCaches = (): {
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
