/**
 * Keeps the compiled queries of frontends, which send the same few again and again. A document is compiled when it has been answered a few times, so that
 * one who sends ever new ones has none compiled, and what one caller brings pushes out what that caller has brought.
 */
import type { DocumentNode } from "graphql";
import { LRUCache } from "lru-cache";
import type { CompiledDocument } from "./graphql-compiled.ts";

export interface KeptQueries {
  readonly find: (text: string) => CompiledDocument | undefined;
  /** It was found valid and within the limits, and runs. */
  readonly note: (text: string, callerId: string) => void;
}

/** In fields, of which a document has some 50. */
export const fieldsKeptMax = 16_000;
export const fieldsOfTokenMax = 4_000;
/** Compiling takes as long as this many answers, about. */
export const sightingsMin = 5;
export const textLengthMax = 16_384;

const sightingsMax = 1_000;
const sightingsLengthMax = 4 * 1024 * 1024;

const parsedMax = 1_000;
const parsedLengthMax = 8 * 1024 * 1024;

interface TextCache<Value extends object> {
  readonly get: (text: string) => Value | undefined;
  readonly set: (text: string, value: Value) => unknown;
}

/** For Yoga, of what it has parsed and of what it could not parse; the memory that they take hangs on the length of the texts. */
export function documentCaches(): { readonly documentCache: TextCache<DocumentNode>; readonly errorCache: TextCache<Error> } {
  return { documentCache: createTextCache(), errorCache: createTextCache() };
}

const createTextCache = <Value extends object>(): TextCache<Value> =>
  new LRUCache<string, Value>({
    max: parsedMax,
    maxSize: parsedLengthMax,
    maxEntrySize: textLengthMax,
    sizeCalculation: (_value, text) => text.length + 1,
  });

interface Kept {
  readonly document: CompiledDocument;
  readonly callerId: string;
}

export function createKeptQueries(compile: (text: string) => CompiledDocument | undefined): KeptQueries {
  const kept = new LRUCache<string, Kept>({ maxSize: fieldsKeptMax, sizeCalculation: ({ document }) => document.fields });
  const sightings = new LRUCache<string, number>({
    max: sightingsMax,
    maxSize: sightingsLengthMax,
    sizeCalculation: (_count, text) => text.length + 1,
  });
  const makeRoom = (callerId: string, wanted: number): void => {
    let fields = wanted;
    for (const [text, { document, callerId: owner }] of kept.entries()) {
      if (owner === callerId) fields += document.fields;
      if (owner === callerId && fields > fieldsOfTokenMax) kept.delete(text);
    }
  };
  return {
    find: (text) => kept.get(text)?.document,
    note: (text, callerId) => {
      if (text.length > textLengthMax) return;
      const count = (sightings.get(text) ?? 0) + 1;
      sightings.set(text, count);
      if (count !== sightingsMin) return;
      const document = compile(text);
      // What cannot be compiled is not tried again for as long as it is remembered.
      if (document === undefined) return;
      sightings.delete(text);
      makeRoom(callerId, document.fields);
      kept.set(text, { document, callerId });
    },
  };
}
