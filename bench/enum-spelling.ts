/**
 * Converts enum values of /graphql (`IN_STOCK`) to the spelling of REST (`in_stock`). Finds the enum fields
 * in the schema, so that other texts are not changed.
 */
import { readFileSync } from "node:fs";
import { buildSchema, getNamedType, isEnumType, parse, TypeInfo, visit, visitWithTypeInfo } from "graphql";

const schema = buildSchema(readFileSync(new URL("../schema/schema.graphql", import.meta.url), "utf8"));
const known = new Map<string, ReadonlySet<string>>();

/** Returns the paths of a document's enum fields, for example `data/lines/availability`. */
function enumFields(document: string): ReadonlySet<string> {
  let fields = known.get(document);
  if (fields === undefined) known.set(document, (fields = findEnumFields(document)));
  return fields;
}

function findEnumFields(document: string): ReadonlySet<string> {
  const found = new Set<string>();
  const path: string[] = [];
  const types = new TypeInfo(schema);
  visit(
    parse(document),
    visitWithTypeInfo(types, {
      Field: {
        enter: ({ name, alias }) => {
          path.push((alias ?? name).value);
          if (isEnumType(getNamedType(types.getType()))) found.add(path.join("/"));
        },
        leave: () => void path.pop(),
      },
    }),
  );
  return found;
}

/** Returns the `data` of an answer with its enum values in lower case, as in REST. */
export function lowerCaseEnums(document: string, data: unknown): unknown {
  return lowerCaseAt(data, [], enumFields(document));
}

function lowerCaseAt(value: unknown, path: readonly string[], enums: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => lowerCaseAt(item, path, enums));
  if (typeof value === "string") return enums.has(path.join("/")) ? value.toLowerCase() : value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, lowerCaseAt(item, [...path, key], enums)]),
  );
}
