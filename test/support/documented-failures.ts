/** Compares the error codes in an answer of GraphQL with the codes that the schema documents. */
import { type DocumentNode, getOperationAST, parse } from "graphql";
import { commonMutationFailures } from "#graph/mutation-failures.ts";
import graph from "#graph/schema.ts";
import { getGraphqlRootFields } from "#mesh/idempotent-document.ts";

interface AnsweredError {
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: unknown };
}

/**
 * Returns the error codes of an answer that the mutations of the request do not document, each as "mutation:
 * code". An error without a path counts for the only mutation of the request. Answers without `data` are left
 * out: their documents were not executed.
 */
export function findUndocumentedFailures(request: unknown, answer: unknown): string[] {
  if (!isRecord(answer) || !("data" in answer) || !Array.isArray(answer["errors"])) return [];
  const fields = getMutations(request);
  return (answer["errors"] as AnsweredError[]).flatMap(({ path, extensions }) => {
    const name = fields.get(String(path?.[0])) ?? (fields.size === 1 ? [...fields.values()][0] : undefined);
    if (name === undefined) return [];
    const code = String(extensions?.code);
    return isDocumented(name, code) ? [] : [`${name}: ${code}`];
  });
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

function isDocumented(name: string, code: string): boolean {
  const { failures = [] } = graph.getMutationType()?.getFields()[name]?.extensions.change ?? {};
  return [...commonMutationFailures, ...failures].some((documented) => documented === code);
}

/** The mutations of a request, by the key of their result in the answer. */
function getMutations(request: unknown): ReadonlyMap<string, string> {
  if (!isRecord(request) || typeof request["query"] !== "string") return new Map();
  const document: DocumentNode = parse(request["query"]);
  const operationName = typeof request["operationName"] === "string" ? request["operationName"] : undefined;
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== "mutation") return new Map();
  return new Map(
    getGraphqlRootFields(operation.selectionSet, document).map(({ alias, name }) => [
      (alias ?? name).value,
      name.value,
    ]),
  );
}
