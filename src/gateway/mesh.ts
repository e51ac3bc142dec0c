/** GraphQL Mesh: reads .meshrc.yaml, loads the graph it names and the documents of the REST operations. */
import { fileURLToPath } from "node:url";
import { findAndParseConfig } from "@graphql-mesh/cli";
import { getMesh } from "@graphql-mesh/runtime";
import type { DocumentNode, GraphQLSchema } from "graphql";
import type { Plugin } from "graphql-yoga";

export interface Mesh {
  readonly schema: GraphQLSchema;
  readonly documents: readonly DocumentNode[];
  readonly plugins: readonly Plugin[];
  close(): void;
}

const projectFolder = fileURLToPath(new URL("../../", import.meta.url));

export async function openMesh(dir: string = projectFolder): Promise<Mesh> {
  const config = await findAndParseConfig({ dir });
  const mesh = await getMesh(config);
  return {
    schema: mesh.schema,
    documents: config.documents.flatMap(({ document }) => (document === undefined ? [] : [document])),
    plugins: mesh.plugins as unknown as readonly Plugin[],
    close: () => mesh.destroy(),
  };
}
