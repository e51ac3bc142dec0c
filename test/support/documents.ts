/** The documents under schema/ as the service loads them: each fragment is replaced by its fields. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DocumentNode, parse } from "graphql";
import { collectFragments, inlineFragments } from "#mesh/documents.ts";

const folder = new URL("../../schema/", import.meta.url).pathname;

/** As it is written; the path begins below schema/. */
export const readWritten = (path: string): DocumentNode => parse(readFileSync(join(folder, path), "utf8"));

/** The paths of documents below schema/, by a pattern. */
export const documentPaths = (pattern: string): string[] => globSync(pattern, { cwd: folder }).toSorted();

export const fragments = collectFragments(documentPaths("fragments/*.graphql").map(readWritten));

/** An operation or event whose fragments are written out; the path begins below schema/. */
export const readInlined = (path: string): DocumentNode => inlineFragments(readWritten(path), fragments);
