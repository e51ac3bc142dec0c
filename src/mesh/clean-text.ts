/** Refuses NUL, other control characters and lone surrogates, both in a document's texts and in its variables. */
import { type DocumentNode, Kind, visit } from "graphql";
import { fail } from "#foundation/failure.ts";
import { isCleanText } from "#foundation/text.ts";
import type { ExecutionPolicyArgs } from "./run.ts";

/** Throws 400 `invalid_field` for the first text that is not clean, with a JSON Pointer into the request. */
export function requireCleanTexts({
  document,
  variableValues,
}: Pick<ExecutionPolicyArgs, "document" | "variableValues">): void {
  const field = uncleanLiteral(document) ?? uncleanValue(variableValues ?? {}, "/variables");
  if (field === undefined) return;
  const message = `${field} has a control character or a lone surrogate.`;
  throw fail("invalid_field", {
    message,
    details: [{ in: "body", field, code: "control_character", message }],
  });
}

/** Yoga keeps the documents that it has parsed, so each is looked at once. */
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
      if (!isCleanText(node.value)) isClean = false;
    },
  });
  return isClean;
}

function uncleanValue(value: unknown, path: string): string | undefined {
  if (typeof value === "string") return isCleanText(value) ? undefined : path;
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return uncleanItem(value, path);
  for (const [key, item] of Object.entries(value)) {
    // An unclean name is reported at the object that has it: a pointer with the name would repeat it.
    if (!isCleanText(key)) return path;
    const found = uncleanValue(item, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Lists are long: a path is made only for an item that is not clean, or that holds others. */
function uncleanItem(items: readonly unknown[], path: string): string | undefined {
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (typeof item === "string" ? isCleanText(item) : typeof item !== "object") continue;
    const found = uncleanValue(item, `${path}/${index}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
