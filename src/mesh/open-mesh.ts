/**
 * Opens GraphQL Mesh as `.meshrc.yaml` says. Mesh's own code reads the file (`processConfig`, which the
 * `mesh` command calls too) and assembles sources, transforms, definitions, plugins and documents. The
 * command line package itself is not loaded: it would take a second and 80 MB more at every start.
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
import { getContractSchema } from "./contract-schema.ts";
import { type MeshDocuments, readDocuments } from "./documents.ts";
import { createRunDocument, type RunDocument } from "./run.ts";

export interface Mesh extends MeshDocuments {
  /** The graph that all sources make together, as `/graphql` serves it. */
  readonly schema: GraphQLSchema;
  /** The same graph as REST and events spell it. */
  readonly contractSchema: GraphQLSchema;
  readonly run: RunDocument;
  /** For a GraphQL server in front of `run`: what the plugins do before and after an execution. */
  readonly serverPlugins: readonly Plugin[];
  close(): void;
}

const projectFolder = fileURLToPath(new URL("../../", import.meta.url));

/** `dir` has the `.meshrc.yaml`; its relative paths are relative to `dir`. */
export async function openMesh(dir: string = projectFolder): Promise<Mesh> {
  const config = await readConfiguration(dir);
  const plugins = [...(config.additionalEnvelopPlugins ?? [])] as Plugin[];
  // Mesh adds this plugin last when there are documents: it would run a document by its hash, without
  // validation.
  if (config.documents.length > 0 && plugins.pop()?.onParams === undefined)
    throw new Error("Mesh's plugin for persisted documents is not where it was.");
  const mesh = await getMesh({ ...config, additionalEnvelopPlugins: plugins });
  const contractSchema = getContractSchema(mesh.schema);
  const documents = config.documents.map(({ document, location = "" }) => ({
    document: document as DocumentNode,
    location,
  }));
  return {
    schema: mesh.schema,
    contractSchema,
    ...readDocuments(contractSchema, documents),
    run: createRunDocument(mesh, plugins),
    serverPlugins: plugins.map(serverPlugin),
    close: () => mesh.destroy(),
  };
}

function readConfiguration(dir: string): ReturnType<typeof processConfig> {
  const path = join(dir, ".meshrc.yaml");
  const text = withEnvironment(readFileSync(path, "utf8"));
  // Definitions of other sources are read anew at each start; Mesh would look for built ones in production.
  const store = new MeshStore(dir, new InMemoryStoreStorageAdapter(), { readonly: false, validate: false });
  return processConfig(loadYaml(path, text, new DefaultLogger()), { dir, store, importFn: importFrom(dir) });
}

/** `${NAME}` and `${NAME:default}` are environment variables, as in Mesh's command line. */
const withEnvironment = (text: string): string =>
  text.replaceAll(
    /\$\{(?<name>[^}:]*)(?::(?<fallback>[^}]*))?\}/g,
    (_, name: string, fallback = "") => process.env[name] || String(fallback),
  );

type ImportFn = NonNullable<NonNullable<Parameters<typeof processConfig>[1]>["importFn"]>;

/** A relative name is a file of the configuration's folder; any other name is a package. */
const importFrom =
  (dir: string): ImportFn =>
  async <Module>(name: string): Promise<Module> => {
    const module = (await import(name.startsWith(".") ? join(dir, name) : name)) as Module & {
      readonly default?: Module;
    };
    return module.default ?? module;
  };

/**
 * The part of a Mesh plugin that a GraphQL server needs when it executes through `run`: parsing, validation,
 * and its hooks on requests and results. The hooks around an execution are left out, because Mesh calls them
 * inside `run`.
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
