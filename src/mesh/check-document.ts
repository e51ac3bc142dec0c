/**
 * Checks GraphQL documents before they are stored as trusted documents, with the same parser, validation
 * rules and limits that apply to documents in requests.
 */
import type { getMesh } from "@graphql-mesh/runtime";
import { type DocumentNode, GraphQLError, type GraphQLSchema, Kind } from "graphql";
import type {
  TrustedDocumentChecker,
  ValidatedDocumentNameAndOperation,
  GraphqlDocumentError,
} from "#access/trusted-documents.ts";
import { queryCostMax } from "#graph/limits.ts";
import { computeGraphqlDocumentCost } from "./document-cost.ts";

export type MeshInstance = Pick<Awaited<ReturnType<typeof getMesh>>, "getEnveloped" | "schema">;

interface ParsedDocument extends ValidatedDocumentNameAndOperation {
  readonly document: DocumentNode;
}

/**
 * Parses and validates the text of a trusted document. Returns the list of faults if the text is not a valid
 * document with exactly one named operation.
 */
export function parseAndCheckTrustedDocument(
  { getEnveloped, schema }: MeshInstance,
  text: string,
): ParsedDocument | readonly GraphqlDocumentError[] {
  const { parse, validate } = getEnveloped({});
  try {
    const document: DocumentNode = parse(text);
    const errors: readonly GraphQLError[] = validate(schema, document);
    if (errors.length > 0) return errors.map(toFault);
    const operation = readOnlyOperation(document);
    return "message" in operation ? [operation] : { ...operation, document };
  } catch (error) {
    if (error instanceof GraphQLError) return [toFault(error)];
    throw error;
  }
}

export const createTrustedDocumentChecker =
  (mesh: MeshInstance): TrustedDocumentChecker =>
  (text) => {
    const checked = parseAndCheckTrustedDocument(mesh, text);
    if (!("document" in checked)) return checked;
    const { document, ...operation } = checked;
    const fault = findCostFault(mesh.schema, document);
    return fault === undefined ? operation : [fault];
  };

function toFault({ message, locations }: GraphQLError): GraphqlDocumentError {
  const [place] = locations ?? [];
  return { message, line: place?.line ?? null, column: place?.column ?? null };
}

const faultOfWhole = (message: string): GraphqlDocumentError => ({ message, line: null, column: null });

function readOnlyOperation({
  definitions,
}: DocumentNode): ValidatedDocumentNameAndOperation | GraphqlDocumentError {
  const [operation, second] = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (operation?.kind !== Kind.OPERATION_DEFINITION || second !== undefined)
    return faultOfWhole("A trusted document must have exactly one operation.");
  if (operation.name === undefined)
    return faultOfWhole("The operation of a trusted document must have a name.");
  return { name: operation.name.value, operation: operation.operation };
}

/**
 * Returns a fault if the document costs more points than the highest limit that a role has. Returns no fault
 * if the cost depends on required variables, because the cost cannot be computed without a request. Each
 * request is then checked instead.
 */
function findCostFault(schema: GraphQLSchema, document: DocumentNode): GraphqlDocumentError | undefined {
  try {
    const cost = computeGraphqlDocumentCost(schema, document, { contextValue: undefined });
    return cost > queryCostMax
      ? faultOfWhole(`The document costs ${cost} points; the limit is ${queryCostMax}.`)
      : undefined;
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}
