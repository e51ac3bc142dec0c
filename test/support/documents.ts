/** The documents under schema/ as the service loads them: each fragment is replaced by its fields. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DocumentNode, parse } from "graphql";
import { collectGraphqlFragments, inlineGraphqlFragments } from "#mesh/documents.ts";

const folder = new URL("../../schema/", import.meta.url).pathname;

/** Reads a GraphQL document with its fragments unexpanded. The path is relative to schema/. */
export const readWritten = (path: string): DocumentNode => parse(readFileSync(join(folder, path), "utf8"));

/** Lists the paths of documents that match a pattern, relative to schema/. */
export const documentPaths = (pattern: string): string[] => globSync(pattern, { cwd: folder }).toSorted();

export const fragments = collectGraphqlFragments(documentPaths("fragments/*.graphql").map(readWritten));

/** Reads an operation or event with its fragments replaced by their fields. The path is relative to schema/. */
export const readInlined = (path: string): DocumentNode =>
  inlineGraphqlFragments(readWritten(path), fragments);
