/**
 * Opens GraphQL Mesh with the configuration of `.meshrc.yaml`. Mesh's function `processConfig`, which the
 * `mesh` command calls too, reads the file and loads sources, transforms, definitions, plugins and documents.
 * Mesh's command line package is not loaded, because loading it takes one second and 80 MB at every start.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { processConfig } from "@graphql-mesh/config";
import { getMesh } from "@graphql-mesh/runtime";
import { InMemoryStoreStorageAdapter, MeshStore } from "@graphql-mesh/store";
import { DefaultLogger, loadYaml } from "@graphql-mesh/utils";
import type { DocumentNode, GraphQLSchema } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { TrustedDocumentChecker } from "#access/trusted-documents.ts";
import { createTrustedDocumentChecker } from "./check-document.ts";
import { getLowerCaseEnumSchema } from "./contract-schema.ts";
import { type RestAndEventGraphqlDocuments, compileMeshDocuments } from "./documents.ts";
import {
  createGraphqlDocumentParserAndCompiler,
  type GraphqlDocumentParserAndCompiler,
} from "./prepared-document.ts";
import { createMeshDocumentRunner, type GraphqlDocumentRunner } from "./run.ts";

/** GraphQL Mesh after it has loaded its configuration: the schemas, the documents and the plugins. */
export interface OpenedMesh extends RestAndEventGraphqlDocuments {
  /** The GraphQL schema that combines all sources of `.meshrc.yaml`, as `/graphql` serves it. */
  readonly schema: GraphQLSchema;
  /**
   * The contract schema: the GraphQL schema of all sources with enum values in lower case, as the answers of
   * REST and the webhook events contain them.
   */
  readonly contractSchema: GraphQLSchema;
  readonly run: GraphqlDocumentRunner;
  readonly checkDocument: TrustedDocumentChecker;
  readonly prepareDocument: GraphqlDocumentParserAndCompiler;
  /**
   * The Mesh plugins for a GraphQL server that executes documents with `run`. Each plugin contains only its
   * hooks for parsing, validation, requests and results. Its other hooks are left out, because `run` calls
   * them itself.
   */
  readonly serverPlugins: readonly Plugin[];
  close(): void;
}

const projectFolder = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Opens GraphQL Mesh with the file `.meshrc.yaml` in the folder `dir`. Paths in the file are relative to
 * `dir`.
 */
export async function openGraphqlMesh(dir: string = projectFolder): Promise<OpenedMesh> {
  const config = await readConfiguration(dir);
  const plugins = [...(config.additionalEnvelopPlugins ?? [])] as Plugin[];
  // Removes the plugin that Mesh adds at the end of the list if the configuration lists documents. The plugin
  // would run a document by its hash without validation.
  if (config.documents.length > 0 && plugins.pop()?.onParams === undefined)
    throw new Error("Mesh's plugin for persisted documents is not the last plugin, so it cannot be removed.");
  const mesh = await getMesh({ ...config, additionalEnvelopPlugins: plugins });
  const contractSchema = getLowerCaseEnumSchema(mesh.schema);
  const documents = config.documents.map(({ document, location = "" }) => ({
    document: document as DocumentNode,
    location,
  }));
  return {
    schema: mesh.schema,
    contractSchema,
    ...compileMeshDocuments(contractSchema, documents),
    run: createMeshDocumentRunner(mesh, plugins),
    checkDocument: createTrustedDocumentChecker(mesh),
    prepareDocument: createGraphqlDocumentParserAndCompiler(mesh),
    serverPlugins: plugins.map(serverPlugin),
    close: () => mesh.destroy(),
  };
}

function readConfiguration(dir: string): ReturnType<typeof processConfig> {
  const path = join(dir, ".meshrc.yaml");
  const text = withEnvironment(readFileSync(path, "utf8"));
  // Mesh gets a writable schema store, so that it reads the schemas of remote sources again at each start. By
  // default, Mesh in production expects schemas that a build step has stored.
  const store = new MeshStore(dir, new InMemoryStoreStorageAdapter(), { readonly: false, validate: false });
  return processConfig(loadYaml(path, text, new DefaultLogger()), { dir, store, importFn: importFrom(dir) });
}

/**
 * Replaces `${NAME}` and `${NAME:default}` in the configuration by environment variables, as Mesh's command
 * line does.
 */
const withEnvironment = (text: string): string =>
  text.replaceAll(
    /\$\{(?<name>[^}:]*)(?::(?<fallback>[^}]*))?\}/g,
    (_, name: string, fallback = "") => process.env[name] || String(fallback),
  );

type ImportFn = NonNullable<NonNullable<Parameters<typeof processConfig>[1]>["importFn"]>;

/**
 * Imports a module that `.meshrc.yaml` names. A relative name is a file in the folder of `.meshrc.yaml`; any
 * other name is a package.
 */
const importFrom =
  (dir: string): ImportFn =>
  async <Module>(name: string): Promise<Module> => {
    const module = (await import(name.startsWith(".") ? join(dir, name) : name)) as Module & {
      readonly default?: Module;
    };
    return module.default ?? module;
  };

/**
 * Returns the hooks of a Mesh plugin for a GraphQL server that executes documents with `run`: those of
 * parsing, validation, requests and results. The hooks of executions are left out, because `run` calls them
 * itself.
 */
function serverPlugin(plugin: Plugin): Plugin {
  const {
    onExecute: _execute,
    onContextBuilding: _context,
    onEnveloped: _enveloped,
    onPluginInit,
    ...hooks
  } = plugin;
  if (onPluginInit === undefined) return hooks;
  return {
    ...hooks,
    onPluginInit: (payload) =>
      onPluginInit({ ...payload, addPlugin: (added) => payload.addPlugin(serverPlugin(added)) }),
  };
}
