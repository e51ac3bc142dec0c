/**
 * Prepares trusted documents, so that a request for one costs no parsing and no validation: the text is
 * parsed, validated and compiled once, and its cost is computed once for each combination of the variables
 * that set it.
 */
import type { DocumentNode, OperationTypeNode } from "graphql";
import { parseChecked, type MeshInstance } from "./check-document.ts";
import { compileTrustedQuery, type CompiledQuery } from "./compiled-query.ts";
import { createCostMeter, type CostMeter } from "./document-cost.ts";

/** A trusted document that is ready to run. `run` of the Mesh finds its parts by `document`. */
export interface PreparedDocument {
  readonly document: DocumentNode;
  /** The name of the document's only operation. */
  readonly name: string;
  readonly operation: `${OperationTypeNode}`;
  readonly measureCost: CostMeter;
  /** The compiled query; undefined if graphql-js executes the document. */
  readonly query: CompiledQuery | undefined;
}

/**
 * Prepares the text of a trusted document. Returns undefined if the text is not valid, for example because
 * the schema has changed since it was registered.
 */
export type DocumentPreparer = (text: string) => PreparedDocument | undefined;

const prepared = new WeakMap<DocumentNode, PreparedDocument>();

/** Returns the parts of a document that a preparer has parsed; undefined for all other documents. */
export const getPreparedDocument = (document: DocumentNode): PreparedDocument | undefined =>
  prepared.get(document);

export const createDocumentPreparer =
  (mesh: MeshInstance): DocumentPreparer =>
  (text) => {
    const checked = parseChecked(mesh, text);
    if (!("document" in checked)) return undefined;
    const { document } = checked;
    const ready = {
      ...checked,
      measureCost: createCostMeter(mesh.schema, document),
      query: compileTrustedQuery(mesh.schema, document),
    };
    prepared.set(document, ready);
    return ready;
  };
