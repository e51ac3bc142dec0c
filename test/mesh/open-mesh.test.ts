/** The service runs the schema that Mesh creates from `.meshrc.yaml`, with every setting of this file. */
import { findAndParseConfig } from "@graphql-mesh/cli";
import { getMesh } from "@graphql-mesh/runtime";
import { printSchemaWithDirectives } from "@graphql-tools/utils";
import { type GraphQLSchema, print } from "graphql";
import { afterEach, describe, expect, it, vi } from "vitest";
import { collectGraphqlFragments, inlineGraphqlFragments } from "#mesh/documents.ts";
import { type OpenedMesh, openGraphqlMesh } from "#mesh/open-mesh.ts";
import { convertEnumValuesToLowerCase } from "#mesh/contract-schema.ts";
import { temporaryFolder } from "#test/support/process.ts";
import { fillMeshFolder } from "./mesh-folder.ts";
import { operationCount } from "#test/gateway/contract-table.ts";

const root = new URL("../../", import.meta.url).pathname;

const meshFolder = (
  change: (configuration: string) => string,
  files: Readonly<Record<string, string>> = {},
): string => fillMeshFolder(temporaryFolder(), change, files);

describe("openGraphqlMesh", () => {
  const opened: OpenedMesh[] = [];
  afterEach(() => {
    for (const mesh of opened.splice(0)) mesh.close();
  });
  async function open(dir?: string): Promise<OpenedMesh> {
    const mesh = await openGraphqlMesh(dir);
    opened.push(mesh);
    return mesh;
  }

  it("loads the same schema, resolvers and documents as Mesh's command line", async () => {
    const ours = await open();
    const config = await findAndParseConfig({ dir: root });
    const theirs = await getMesh(config);
    expect(printSchemaWithDirectives(ours.schema)).toBe(printSchemaWithDirectives(theirs.schema));
    const resolvers = (schema: GraphQLSchema): unknown[] =>
      Object.values(schema.getMutationType()?.getFields() ?? {}).map((field) => field.resolve);
    expect(resolvers(ours.schema)).toEqual(resolvers(theirs.schema));
    expect(resolvers(ours.schema)).not.toContain(undefined);
    const written = config.documents.flatMap(({ document }) => (document === undefined ? [] : [document]));
    const fragments = collectGraphqlFragments(written);
    const texts = written
      .map((document) =>
        print(convertEnumValuesToLowerCase(ours.contractSchema, inlineGraphqlFragments(document, fragments))),
      )
      .filter((text) => text !== "");
    expect(
      [...ours.operations, ...ours.events.values()].map((document) => print(document)).toSorted(),
    ).toEqual(texts.toSorted());
    expect(ours.operations.length).toBe(operationCount);
    theirs.destroy();
  });

  it("applies added transforms, resolvers, definitions and a cache", async () => {
    const dir = meshFolder(
      (text) =>
        text
          .replace(
            "additionalTypeDefs:\n",
            'additionalTypeDefs:\n  - "extend type Query { greeting(name: String!): String! }"\n',
          )
          .concat(
            "additionalResolvers:\n  - ./greeting.ts\ntransforms:\n  - ./renaming.ts: { from: greeting, " +
              "to: salutation }\n",
          ),
      { "greeting.ts": greetingResolver, "renaming.ts": renamingTransform },
    );
    const mesh = await open(dir);
    const fields = mesh.schema.getQueryType()?.getFields() ?? {};
    expect(Object.keys(fields)).toContain("salutation");
    expect(Object.keys(fields)).not.toContain("greeting");
    expect(await fields["salutation"]?.resolve?.(undefined, { name: "Mesh" }, {}, {} as never)).toBe(
      "Hello, Mesh.",
    );
  });

  it("fails the start with the name of a document that is invalid for the graph", async () => {
    const dir = meshFolder((text) => text.replace("documents:\n", "documents:\n  - ./extra.graphql\n"), {
      "extra.graphql": "query extra($id: ID!) { object: cart(id: $id) { nonsense } }",
    });
    await expect(openGraphqlMesh(dir)).rejects.toThrow(
      'extra.graphql: Cannot query field "nonsense" on type "Cart".',
    );
  });

  it("reads environment variables in the file like Mesh's command line", async () => {
    const dir = meshFolder((text) =>
      text.replace("./src/graph/schema.ts", "${MESH_TEST_GRAPH:./src/graph/schema.ts}"),
    );
    expect((await open(dir)).operations.length).toBe(operationCount);
    vi.stubEnv("MESH_TEST_GRAPH", "./elsewhere.ts");
    await expect(openGraphqlMesh(dir)).rejects.toThrow("Schemas couldn't be generated successfully");
    vi.unstubAllEnvs();
  });

  it("does not let clients run a document by its hash", async () => {
    const mesh = await open();
    expect(mesh.serverPlugins.some((plugin) => "onParams" in plugin)).toBe(false);
  });
});

const greetingResolver =
  "export default { Query: { greeting: (_root: unknown, { name }: { name: string }) => `Hello, " +
  "${name}.` } };\n";

const renamingTransform = `import { MapperKind, mapSchema } from "@graphql-tools/utils";
export default class Renaming {
  noWrap = true;
  config: { from: string; to: string };
  constructor(options: { config: { from: string; to: string } }) {
    this.config = options.config;
  }
  transformSchema(schema: never) {
    const { from, to } = this.config;
    return mapSchema(schema, { [MapperKind.ROOT_FIELD]: (field, name) => (name === from ? [to, field] : undefined) });
  }
}
`;
