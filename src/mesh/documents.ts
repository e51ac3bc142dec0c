/**
 * Loads the documents of `.meshrc.yaml`. Operations and events share selections as fragments; the compiler
 * and the OpenAPI document read fields alone, so loading a document replaces each spread by the fields of its
 * fragment.
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
import { getCompiledQuery, markServiceDocument, withContractEnums } from "./contract-schema.ts";

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The fields of a fragment take the place of its spread, so that answers keep the order of the documents. */
export function inlineFragments(document: DocumentNode, fragments: Fragments): DocumentNode {
  const definitions = document.definitions.flatMap((definition): DefinitionNode[] => {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) return [];
    if (definition.kind !== Kind.OPERATION_DEFINITION) return [definition];
    const operation = definition.name?.value ?? "An operation without a name";
    const place = { operation, around: [], fragments };
    return [{ ...definition, selectionSet: inlineSet(definition.selectionSet, place) }];
  });
  return { ...document, definitions };
}

/** Throws where two documents define a fragment of the same name. */
export function collectFragments(documents: readonly DocumentNode[]): Fragments {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of documents.flatMap(({ definitions }) => definitions)) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const name = definition.name.value;
    if (fragments.has(name)) throw new Error(`Two fragments are named ${name}.`);
    fragments.set(name, definition);
  }
  return fragments;
}

/** Where a selection is written. */
interface Place {
  readonly operation: string;
  /** The fragments that the selection is in, outermost first; empty where the operation itself writes it. */
  readonly around: readonly string[];
  readonly fragments: Fragments;
}

interface Selected {
  readonly node: FieldNode | InlineFragmentNode;
  readonly place: Place;
}

function inlineSet(set: SelectionSetNode, place: Place): SelectionSetNode {
  const selected = set.selections.flatMap((selection) => inlineSelection(selection, place));
  refuseRepeats(selected);
  return { ...set, selections: selected.map(({ node }) => node) };
}

/** Fields are copied: the compiler writes on their nodes, so two selections must not share one. */
function inlineSelection(node: SelectionNode, place: Place): readonly Selected[] {
  if (node.kind === Kind.FRAGMENT_SPREAD) {
    const { name, selectionSet } = fragmentOf(node, place);
    const inside = { ...place, around: [...place.around, name.value] };
    return selectionSet.selections.flatMap((selection) => inlineSelection(selection, inside));
  }
  if (node.selectionSet === undefined) return [{ node: { ...node }, place }];
  return [{ node: { ...node, selectionSet: inlineSet(node.selectionSet, place) }, place }];
}

function fragmentOf(spread: FragmentSpreadNode, place: Place): FragmentDefinitionNode {
  const name = spread.name.value;
  const fragment = place.fragments.get(name);
  if (fragment === undefined) throw faultAt(place, `there is no fragment ${name}.`);
  if (spread.directives?.length) throw faultAt(place, `directives on the spread of ${name} would be lost.`);
  if (place.around.includes(name)) {
    const circle = [...place.around.slice(place.around.indexOf(name)), name];
    throw faultAt(place, `${name} contains itself: ${circle.join(" > ")}.`);
  }
  return fragment;
}

/** GraphQL would merge two fields of one name, and the OpenAPI document would describe the second alone. */
function refuseRepeats(selected: readonly Selected[]): void {
  const first = new Map<string, Place>();
  for (const { node, place } of selected) {
    if (node.kind !== Kind.FIELD) continue;
    const name = (node.alias ?? node.name).value;
    const other = first.get(name);
    if (other !== undefined) {
      const writers = `${writerOf(other)} and by ${writerOf(place)}`;
      throw new Error(`${place.operation}: ${name} is selected twice, by ${writers}.`);
    }
    first.set(name, place);
  }
}

function writerOf({ around }: Place): string {
  const innermost = around.at(-1);
  return innermost === undefined ? "the operation itself" : `the fragment ${innermost}`;
}

function faultAt({ operation, around }: Place, message: string): Error {
  const innermost = around.at(-1);
  const where = innermost === undefined ? operation : `${operation}, in the fragment ${innermost}`;
  return new Error(`${where}: ${message}`);
}

/**
 * The documents of `.meshrc.yaml`, ready to run: REST operations (with `@rest`), and for each kind of event
 * subject the document that reads what an event shows. Fragments are inlined, and enum values are spelled as
 * the contract does.
 */
export interface MeshDocuments {
  readonly operations: readonly DocumentNode[];
  /** By the kind of subject, for example `cart`: the name of the document's one operation. */
  readonly events: ReadonlyMap<string, DocumentNode>;
}

interface LoadedDocument {
  readonly document: DocumentNode;
  /** The path of its file. */
  readonly location: string;
}

/** Throws, with the file's name, if a document does not fit the schema. */
export function readDocuments(
  contractSchema: GraphQLSchema,
  loaded: readonly LoadedDocument[],
): MeshDocuments {
  const fragments = collectFragments(loaded.map(({ document }) => document));
  const operations: DocumentNode[] = [];
  const events = new Map<string, DocumentNode>();
  for (const { document: written, location } of loaded.toSorted((a, b) =>
    a.location < b.location ? -1 : 1,
  )) {
    const definition = written.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
    if (definition === undefined) continue;
    const document = markServiceDocument(
      withContractEnums(contractSchema, inlineFragments(written, fragments)),
      `The document ${basename(location)}`,
    );
    const [fault] = validate(contractSchema, document);
    if (fault !== undefined) throw new Error(`${basename(location)}: ${fault.message}`);
    // Compiled now, so that a document that does not compile stops the start.
    getCompiledQuery(contractSchema, document);
    if (isRestOperation(definition)) operations.push(document);
    else events.set(definition.name?.value ?? "", document);
  }
  return { operations, events };
}

const isRestOperation = ({ directives = [] }: OperationDefinitionNode): boolean =>
  directives.some(({ name }) => name.value === "rest");
