/**
 * /graphql spells the values of enums as GraphQL does (`IN_STOCK`), REST as they are (`in_stock`): told apart
 * by the schema, so that nothing else is touched.
 */
import { readFileSync } from "node:fs";
import { buildSchema, getNamedType, isEnumType, parse, TypeInfo, visit, visitWithTypeInfo } from "graphql";

const schema = buildSchema(readFileSync(new URL("../schema/schema.graphql", import.meta.url), "utf8"));
const known = new Map<string, ReadonlySet<string>>();

/** The fields of a document that are enums, by their way from `data`: `data/lines/availability`. */
function enumFields(document: string): ReadonlySet<string> {
  let fields = known.get(document);
  if (fields === undefined) known.set(document, (fields = findEnumFields(document)));
  return fields;
}

function findEnumFields(document: string): ReadonlySet<string> {
  const found = new Set<string>();
  const way: string[] = [];
  const types = new TypeInfo(schema);
  visit(
    parse(document),
    visitWithTypeInfo(types, {
      Field: {
        enter: ({ name, alias }) => {
          way.push((alias ?? name).value);
          if (isEnumType(getNamedType(types.getType()))) found.add(way.join("/"));
        },
        leave: () => void way.pop(),
      },
    }),
  );
  return found;
}

/** `data` of an answer, with enums as REST spells them. */
export function lowerCaseEnums(document: string, data: unknown): unknown {
  return lowerCaseAt(data, [], enumFields(document));
}

function lowerCaseAt(value: unknown, way: readonly string[], enums: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => lowerCaseAt(item, way, enums));
  if (typeof value === "string") return enums.has(way.join("/")) ? value.toLowerCase() : value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, lowerCaseAt(item, [...way, key], enums)]),
  );
}
