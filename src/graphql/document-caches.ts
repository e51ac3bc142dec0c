/** Yoga's caches of the documents in requests, bounded in number and memory. */
import type { DocumentNode } from "graphql";
import { LRUCache } from "lru-cache";
import { trustedDocumentLimits } from "#access/trusted-documents.ts";

const documentsMax = 1_000;
/**
 * Maximum length in characters of one document that is cached. Longer documents are parsed for every request,
 * because a parsed document needs memory in proportion to its text. `documentsLengthMax` is the same limit
 * for all documents of a cache together.
 */
const documentLengthMax = trustedDocumentLimits.lengthMax;
const documentsLengthMax = 8 * 1024 * 1024;

interface TextCache<Value extends object> {
  readonly get: (text: string) => Value | undefined;
  readonly set: (text: string, value: Value) => unknown;
}

/** Creates the caches of parsed documents and of documents that do not parse. */
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
