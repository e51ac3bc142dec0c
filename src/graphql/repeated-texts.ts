/**
 * Finds the texts of queries that clients send again and again, and prepares them like trusted documents, so
 * that they need no parsing and no validation and run as compiled queries. A text is prepared when it has
 * been sent several times, because compiling a text takes as much CPU time as many executions.
 */
import type { LRUCache } from "lru-cache";
import type {
  GraphqlDocumentParserAndCompiler,
  ParsedAndCompiledGraphqlDocument,
} from "#mesh/prepared-document.ts";
import { createCacheKeyedByDocumentText, createCompiledGraphqlDocumentCache } from "./document-caches.ts";

/**
 * A GraphQL text is prepared (parsed and compiled once for later requests) when it arrives for the fourth
 * time.
 */
export const preparedFromRequest = 4;

interface TextUses {
  count: number;
}

/**
 * Counts a request with the text of a document. Returns the prepared document if the text has been sent often
 * enough; undefined if it has not, or if it is no valid query that can be compiled.
 */
export type FrequentDocumentParserAndCompiler = (
  text: string,
) => ParsedAndCompiledGraphqlDocument | undefined;

export function createFrequentDocumentParserAndCompiler(
  prepareDocument: GraphqlDocumentParserAndCompiler,
): FrequentDocumentParserAndCompiler {
  const uses = createCacheKeyedByDocumentText<TextUses>();
  // When a document is removed, its text is counted from the start. A client that sends more documents than
  // the cache can keep therefore does not cause a compilation with each request.
  const prepared: LRUCache<string, ParsedAndCompiledGraphqlDocument> = createCompiledGraphqlDocumentCache(
    (text) => uses.delete(text),
  );
  return (text) => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const use = uses.get(text);
    if (use === undefined) {
      uses.set(text, { count: 1 });
      return undefined;
    }
    use.count += 1;
    // A text that cannot be prepared is not tried again.
    if (use.count !== preparedFromRequest) return undefined;
    const document = prepareDocument(text);
    if (document?.query === undefined) return undefined;
    prepared.set(text, document);
    return document;
  };
}
