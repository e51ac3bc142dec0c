/**
 * Loads the GraphQL documents that `.meshrc.yaml` lists. The documents of REST operations and of webhook
 * events use common fragments. The compiler and the OpenAPI document support only fields, so each use of a
 * fragment is replaced by the fragment's fields.
 */
import { basename } from "node:path";
import {
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLSchema,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  validate,
} from "graphql";
import {
  getCompiledBuiltInGraphqlDocument,
  markAsBuiltInGraphqlDocument,
  convertEnumValuesToLowerCase,
} from "./contract-schema.ts";

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/**
 * Replaces each use of a fragment (`...Name`) in a document by the fields of the fragment, in the same
 * position.
 */
export function inlineGraphqlFragments(document: DocumentNode, fragments: Fragments): DocumentNode {
  const definitions = document.definitions.flatMap((definition): DefinitionNode[] => {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) return [];
    if (definition.kind !== Kind.OPERATION_DEFINITION) return [definition];
    const operation = definition.name?.value ?? "An operation without a name";
    const scope = { operation, around: [], fragments };
    return [{ ...definition, selectionSet: inlineSet(definition.selectionSet, scope) }];
  });
  return { ...document, definitions };
}

/** Collects the fragments of all documents by name. Throws if two fragments have the same name. */
export function collectGraphqlFragments(documents: readonly DocumentNode[]): Fragments {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of documents.flatMap(({ definitions }) => definitions)) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const name = definition.name.value;
    if (fragments.has(name)) throw new Error(`Two fragments are named ${name}.`);
    fragments.set(name, definition);
  }
  return fragments;
}

/**
 * The place of a selected field in its document: the name of the operation, and the names of the fragments
 * that contain the field.
 */
interface SelectionScope {
  readonly operation: string;
  /**
   * The names of the fragments that contain the selected field, the outermost first; empty if the field is
   * selected directly in the operation.
   */
  readonly around: readonly string[];
  readonly fragments: Fragments;
}

interface ScopedSelection {
  readonly node: FieldNode | InlineFragmentNode;
  readonly scope: SelectionScope;
}

function inlineSet(set: SelectionSetNode, scope: SelectionScope): SelectionSetNode {
  const selected = set.selections.flatMap((selection) => inlineSelection(selection, scope));
  refuseRepeats(selected);
  return { ...set, selections: selected.map(({ node }) => node) };
}

/**
 * Each field node is copied, because graphql-jit writes to field nodes and a node must therefore not be used
 * in two selections.
 */
function inlineSelection(node: SelectionNode, scope: SelectionScope): readonly ScopedSelection[] {
  if (node.kind === Kind.FRAGMENT_SPREAD) {
    const { name, selectionSet } = findFragment(node, scope);
    const inside = { ...scope, around: [...scope.around, name.value] };
    return selectionSet.selections.flatMap((selection) => inlineSelection(selection, inside));
  }
  if (node.selectionSet === undefined) return [{ node: { ...node }, scope }];
  return [{ node: { ...node, selectionSet: inlineSet(node.selectionSet, scope) }, scope }];
}

function findFragment(spread: FragmentSpreadNode, scope: SelectionScope): FragmentDefinitionNode {
  const name = spread.name.value;
  const fragment = scope.fragments.get(name);
  if (fragment === undefined) throw errorAt(scope, `there is no fragment ${name}.`);
  if (spread.directives?.length) throw errorAt(scope, `directives on the spread of ${name} would be lost.`);
  if (scope.around.includes(name)) {
    const circle = [...scope.around.slice(scope.around.indexOf(name)), name];
    throw errorAt(scope, `${name} contains itself: ${circle.join(" > ")}.`);
  }
  return fragment;
}

/**
 * Refuses a selection with two fields of the same name. GraphQL would merge the two fields, but the OpenAPI
 * document would describe only the second.
 */
function refuseRepeats(selected: readonly ScopedSelection[]): void {
  const first = new Map<string, SelectionScope>();
  for (const { node, scope } of selected) {
    if (node.kind !== Kind.FIELD) continue;
    const name = (node.alias ?? node.name).value;
    const other = first.get(name);
    if (other !== undefined) {
      const writers = `${describeScope(other)} and by ${describeScope(scope)}`;
      throw new Error(`${scope.operation}: ${name} is selected twice, by ${writers}.`);
    }
    first.set(name, scope);
  }
}

function describeScope({ around }: SelectionScope): string {
  const innermost = around.at(-1);
  return innermost === undefined ? "the operation itself" : `the fragment ${innermost}`;
}

function errorAt({ operation, around }: SelectionScope, message: string): Error {
  const innermost = around.at(-1);
  const where = innermost === undefined ? operation : `${operation}, in the fragment ${innermost}`;
  return new Error(`${where}: ${message}`);
}

/**
 * The documents of `.meshrc.yaml`, ready to run: those of the REST operations (with `@rest`), and those that
 * read the objects of webhook events. Fragments are replaced by their fields, and enum values are in lower
 * case.
 */
export interface RestAndEventGraphqlDocuments {
  readonly operations: readonly DocumentNode[];
  /**
   * The documents that read the objects of webhook events. The key is the kind of object, for example `cart`,
   * which is also the name of the document's operation.
   */
  readonly events: ReadonlyMap<string, DocumentNode>;
}

interface LoadedDocument {
  readonly document: DocumentNode;
  /** The path of the file from which the GraphQL document was loaded. */
  readonly location: string;
}

/**
 * Replaces fragments in the loaded documents by their fields, then validates and compiles the documents.
 * Throws an error with the file's name if a document does not match the schema.
 */
export function compileMeshDocuments(
  contractSchema: GraphQLSchema,
  loaded: readonly LoadedDocument[],
): RestAndEventGraphqlDocuments {
  const fragments = collectGraphqlFragments(loaded.map(({ document }) => document));
  const operations: DocumentNode[] = [];
  const events = new Map<string, DocumentNode>();
  for (const { document: written, location } of loaded.toSorted((a, b) =>
    a.location < b.location ? -1 : 1,
  )) {
    const definition = written.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
    if (definition === undefined) continue;
    const document = markAsBuiltInGraphqlDocument(
      convertEnumValuesToLowerCase(contractSchema, inlineGraphqlFragments(written, fragments)),
      `The document ${basename(location)}`,
    );
    const [fault] = validate(contractSchema, document);
    if (fault !== undefined) throw new Error(`${basename(location)}: ${fault.message}`);
    // Documents of webhook events are compiled at the start and not before their first event. If a document
    // cannot be compiled, the service therefore does not start.
    getCompiledBuiltInGraphqlDocument(contractSchema, document);
    if (isRestOperation(definition)) operations.push(document);
    else events.set(definition.name?.value ?? "", document);
  }
  return { operations, events };
}

const isRestOperation = ({ directives = [] }: OperationDefinitionNode): boolean =>
  directives.some(({ name }) => name.value === "rest");
