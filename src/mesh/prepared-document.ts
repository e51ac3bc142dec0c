/**
 * Prepares trusted documents, so that a request for a trusted document needs no parsing and no validation.
 * The text is parsed, validated and compiled only once. The cost is computed once for each combination of the
 * variables on which it depends.
 */
import type { DocumentNode, OperationTypeNode } from "graphql";
import { parseAndCheckTrustedDocument, type MeshInstance } from "./check-document.ts";
import { compileGraphqlDocument, type CompiledGraphqlDocument } from "./compiled-query.ts";
import { createGraphqlDocumentCostCalculator, type GraphqlDocumentCostCalculator } from "./document-cost.ts";

/**
 * A trusted document that is ready to run. `run` finds the compiled query and the cost of the document by the
 * object in the property `document`.
 */
export interface ParsedAndCompiledGraphqlDocument {
  readonly document: DocumentNode;
  /** The name of the only operation in the document. */
  readonly name: string;
  readonly operation: `${OperationTypeNode}`;
  readonly measureCost: GraphqlDocumentCostCalculator;
  /** The compiled query; undefined if the document cannot be compiled, so that graphql-js executes it. */
  readonly query: CompiledGraphqlDocument | undefined;
}

/**
 * Prepares the text of a trusted document. Returns undefined if the text is not valid, for example because
 * the schema has changed since it was registered.
 */
export type GraphqlDocumentParserAndCompiler = (text: string) => ParsedAndCompiledGraphqlDocument | undefined;

const prepared = new WeakMap<DocumentNode, ParsedAndCompiledGraphqlDocument>();

/** Returns the prepared form of a document that a preparer has parsed; undefined for all other documents. */
export const getParsedAndCompiledGraphqlDocument = (
  document: DocumentNode,
): ParsedAndCompiledGraphqlDocument | undefined => prepared.get(document);

export const createGraphqlDocumentParserAndCompiler =
  (mesh: MeshInstance): GraphqlDocumentParserAndCompiler =>
  (text) => {
    const checked = parseAndCheckTrustedDocument(mesh, text);
    if (!("document" in checked)) return undefined;
    const { document } = checked;
    const ready = {
      ...checked,
      measureCost: createGraphqlDocumentCostCalculator(mesh.schema, document),
      query: compileGraphqlDocument(mesh.schema, document),
    };
    prepared.set(document, ready);
    return ready;
  };
