/**
 * Writes from which documents and types of the schema `npm run generate` generated src/generated. The
 * project's suite compares the file with the present documents and schema.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { findDocuments, listUsedTypes } from "./used-types.mjs";

const documents = findDocuments(["src/apollo.ts", "src/urql.ts"].map((path) => readFileSync(path, "utf8")));
const types = listUsedTypes(readFileSync("../../schema/schema.graphql", "utf8"), documents);
writeFileSync("src/generated/sources.json", `${JSON.stringify({ documents, types }, null, 2)}\n`);
