/**
 * GraphQL Mesh: loads the graph that .meshrc.yaml names, with its additional definitions, and the documents of the REST operations. Mesh's own command line
 * would do the same with all that it can do else, which takes a second and a hundred megabytes; a test holds the two equal.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import InMemoryLRUCache from "@graphql-mesh/cache-inmemory-lru";
import { getMesh } from "@graphql-mesh/runtime";
import { DefaultLogger, loadYaml } from "@graphql-mesh/utils";
import { type DocumentNode, extendSchema, type GraphQLSchema, parse } from "graphql";
import type { Plugin } from "graphql-yoga";
import { z } from "zod";

export interface Mesh {
  readonly schema: GraphQLSchema;
  readonly documents: readonly DocumentNode[];
  readonly plugins: readonly Plugin[];
  close(): void;
}

const projectFolder = fileURLToPath(new URL("../../", import.meta.url));

/** What is read of Mesh's configuration; anything else in it would be left out without a word, and is refused. */
const configuration = z.strictObject({
  sources: z.tuple([z.strictObject({ name: z.string(), handler: z.strictObject({ graphql: z.strictObject({ source: z.string() }) }) })]),
  additionalTypeDefs: z.string(),
  documents: z.array(z.string()),
  cache: z.strictObject({ inmemoryLRU: z.strictObject({}) }),
});

export async function openMesh(dir: string = projectFolder): Promise<Mesh> {
  const { sources, additionalTypeDefs, documents } = readConfiguration(join(dir, ".meshrc.yaml"));
  const [{ name, handler }] = sources;
  const graph = (await import(pathToFileURL(join(dir, handler.graphql.source)).href)) as { readonly default: GraphQLSchema };
  const mesh = await getMesh({
    sources: [{ name, handler: { getMeshSource: () => Promise.resolve({ schema: graph.default }) } }],
    additionalTypeDefs: [readDocument(join(dir, additionalTypeDefs))],
    merger: oneSource,
    cache: new InMemoryLRUCache(),
  });
  return {
    schema: mesh.schema,
    documents: globSync(documents, { cwd: dir })
      .toSorted()
      .map((path) => readDocument(join(dir, path))),
    plugins: mesh.plugins as unknown as readonly Plugin[],
    close: () => mesh.destroy(),
  };
}

type Merger = Parameters<typeof getMesh>[0]["merger"];

/** There is nothing to merge: the one schema with what is defined beside it. */
const oneSource: Merger = {
  name: "bare",
  getUnifiedSchema: ({ rawSources: [source], typeDefs = [] }) => {
    if (source === undefined) throw new Error(".meshrc.yaml has no source.");
    return { ...source, schema: typeDefs.reduce((schema, definitions) => extendSchema(schema, definitions), source.schema) };
  },
};

function readConfiguration(path: string): z.infer<typeof configuration> {
  const { data, error } = configuration.safeParse(loadYaml(path, readFileSync(path, "utf8"), new DefaultLogger()));
  if (error !== undefined) throw new Error(`.meshrc.yaml: ${z.prettifyError(error)}`);
  return data;
}

const readDocument = (path: string): DocumentNode => parse(readFileSync(path, "utf8"));
