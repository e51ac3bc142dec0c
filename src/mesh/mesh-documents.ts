/**
 * The documents of `.meshrc.yaml`, ready to run: REST operations (with `@rest`), and for each kind of event subject the
 * document that reads what an event shows. Fragments are inlined, and enum values are spelled as the contract does.
 */
import { basename } from "node:path";
import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode, validate } from "graphql";
import { compiledQueryOf, ownDocument } from "./compile-document.ts";
import { withContractEnums } from "./contract-schema.ts";
import { fragmentsOf, inlineFragments } from "./fragments.ts";

export interface MeshDocuments {
  readonly operations: readonly DocumentNode[];
  /** By the kind of subject, for example `cart`: the name of the document's one operation. */
  readonly events: ReadonlyMap<string, DocumentNode>;
}

export interface LoadedDocument {
  readonly document: DocumentNode;
  /** The path of its file. */
  readonly location: string;
}

/** Throws, with the file's name, if a document does not fit the schema. */
export function readDocuments(contractSchema: GraphQLSchema, loaded: readonly LoadedDocument[]): MeshDocuments {
  const fragments = fragmentsOf(loaded.map(({ document }) => document));
  const operations: DocumentNode[] = [];
  const events = new Map<string, DocumentNode>();
  for (const { document: written, location } of loaded.toSorted((a, b) => (a.location < b.location ? -1 : 1))) {
    const definition = written.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
    if (definition === undefined) continue;
    const document = ownDocument(withContractEnums(contractSchema, inlineFragments(written, fragments)), `The document ${basename(location)}`);
    const [fault] = validate(contractSchema, document);
    if (fault !== undefined) throw new Error(`${basename(location)}: ${fault.message}`);
    // Compiled now, so that a document that does not compile stops the start.
    compiledQueryOf(contractSchema, document);
    if (isRestOperation(definition)) operations.push(document);
    else events.set(definition.name?.value ?? "", document);
  }
  return { operations, events };
}

const isRestOperation = ({ directives = [] }: OperationDefinitionNode): boolean => directives.some(({ name }) => name.value === "rest");
