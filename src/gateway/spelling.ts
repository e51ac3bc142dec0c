/**
 * The same graph with every enum spelled by its value (`in_stock` instead of `IN_STOCK`), which is how REST reads and writes it. Documents are
 * compiled on this one, so that spelling costs nothing per request.
 */
import { MapperKind, mapSchema } from "@graphql-tools/utils";
import {
  type DocumentNode,
  type GraphQLArgument,
  GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  visit,
} from "graphql";

/** Values that GraphQL could not spell as a name keep the one they have: no document of REST selects such an enum. */
const enumName = /^[_a-z][_a-z0-9]*$/;

export function respelledSchema(schema: GraphQLSchema): GraphQLSchema {
  const respelled = mapSchema(schema, {
    [MapperKind.ENUM_TYPE]: (type) => {
      const config = type.toConfig();
      const values = Object.values(config.values);
      if (!values.every(({ value }) => typeof value === "string" && enumName.test(value))) return type;
      return new GraphQLEnumType({ ...config, values: Object.fromEntries(values.map((value) => [value.value, value])) });
    },
  });
  restoreDefaults(schema, respelled);
  return respelled;
}

/** mapSchema writes enum defaults as the names they had: put the values back. */
function restoreDefaults(from: GraphQLSchema, to: GraphQLSchema): void {
  for (const [name, type] of Object.entries(from.getTypeMap())) {
    const twin = to.getType(name);
    if (isInputObjectType(type) && isInputObjectType(twin)) restoreEach(Object.values(type.getFields()), Object.values(twin.getFields()));
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    if (!isObjectType(twin) && !isInterfaceType(twin)) continue;
    for (const field of Object.values(twin.getFields())) restoreEach(type.getFields()[field.name]?.args ?? [], field.args);
  }
}

type Defaulted = GraphQLArgument | GraphQLInputField;

function restoreEach(from: readonly Defaulted[], to: readonly Defaulted[]): void {
  for (const twin of to) twin.defaultValue = from.find(({ name }) => name === twin.name)?.defaultValue;
}

/** Enum values written in a document follow; directives keep theirs. */
export function respelledDocument(document: DocumentNode): DocumentNode {
  return visit(document, {
    [Kind.DIRECTIVE]: () => false,
    [Kind.ENUM]: (node) => ({ ...node, value: node.value.toLowerCase() }),
  });
}
