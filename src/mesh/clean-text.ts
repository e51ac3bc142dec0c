/**
 * Refuses GraphQL requests with control characters (also NUL) or lone surrogates in the texts of the document
 * or of its variables.
 */
import { type DocumentNode, Kind, visit } from "graphql";
import { createFailure } from "#foundation/failure.ts";
import { isTextWithoutForbiddenCharacters } from "#foundation/text.ts";
import type { GraphqlDocumentExecutionArgs } from "./run.ts";

/**
 * Throws 400 `invalid_field` if a text of the document or of its variables has a control character or a lone
 * surrogate. The failure has a JSON Pointer to the first such text.
 */
export function requireNoControlCharacters({
  document,
  variableValues,
}: Pick<GraphqlDocumentExecutionArgs, "document" | "variableValues">): void {
  const field = uncleanLiteral(document) ?? uncleanValue(variableValues ?? {}, "/variables");
  if (field === undefined) return;
  const message = `${field} has a control character or a lone surrogate.`;
  throw createFailure("invalid_field", {
    message,
    details: [{ in: "body", field, code: "control_character", message }],
  });
}

/**
 * Cache of the check of documents: true if no text of the parsed document has forbidden characters. Yoga
 * caches parsed documents, so a document that is sent again is not checked again.
 */
const cleanDocuments = new WeakMap<DocumentNode, boolean>();

function uncleanLiteral(document: DocumentNode): string | undefined {
  let isClean = cleanDocuments.get(document);
  if (isClean === undefined) cleanDocuments.set(document, (isClean = areLiteralsClean(document)));
  return isClean ? undefined : "/query";
}

function areLiteralsClean(document: DocumentNode): boolean {
  let isClean = true;
  visit(document, {
    [Kind.STRING]: (node) => {
      if (!isTextWithoutForbiddenCharacters(node.value)) isClean = false;
    },
  });
  return isClean;
}

function uncleanValue(value: unknown, path: string): string | undefined {
  if (typeof value === "string") return isTextWithoutForbiddenCharacters(value) ? undefined : path;
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return uncleanItem(value, path);
  for (const [key, item] of Object.entries(value)) {
    // The name of a field with forbidden characters must not get into the JSON Pointer. The pointer therefore
    // leads to the object that has the field.
    if (!isTextWithoutForbiddenCharacters(key)) return path;
    const found = uncleanValue(item, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Checks the items of a list for texts with forbidden characters. Lists may be long, so the path of an item
 * is created only if it is needed: for an item with a forbidden character, and for an object or list.
 */
function uncleanItem(items: readonly unknown[], path: string): string | undefined {
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (typeof item === "string" ? isTextWithoutForbiddenCharacters(item) : typeof item !== "object")
      continue;
    const found = uncleanValue(item, `${path}/${index}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
