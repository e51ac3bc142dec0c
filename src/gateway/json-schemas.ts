/**
 * Converts GraphQL types to JSON Schemas (2020-12). The OpenAPI document and the gateway's validation both
 * use these schemas.
 */
import {
  type FieldNode,
  type GraphQLEnumType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  isScalarType,
  Kind,
  type SelectionSetNode,
} from "graphql";
import { z } from "zod";
import { getFieldDescriptionWithoutNotes } from "#graph/field-notes.ts";
import { getOriginalGraphqlFieldType } from "#mesh/contract-schema.ts";

/** A JSON Schema (2020-12). */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/**
 * The JSON Schemas of GraphQL object types by the name of the type. They become `components/schemas` of the
 * OpenAPI document, so that each type is described only once.
 */
export type OpenApiSchemaComponents = Map<string, JsonSchema>;

const builtIn: Readonly<Record<string, JsonSchema>> = {
  ID: { type: "string" },
  String: { type: "string" },
  Boolean: { type: "boolean" },
  Int: { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  Float: { type: "number" },
};

/**
 * Returns the values of an enum that REST answers can contain. Leaves out values that only GraphQL answers
 * contain.
 */
function getRestEnumValues(type: GraphQLEnumType): string[] {
  const { graphOnlyValues = [] } = type.extensions as { readonly graphOnlyValues?: readonly string[] };
  return type
    .getValues()
    .flatMap(({ value }) => (graphOnlyValues.includes(String(value)) ? [] : [String(value)]));
}

function toLeafSchema(type: GraphQLNamedType): JsonSchema {
  if (isEnumType(type)) return { type: "string", enum: getRestEnumValues(type) };
  if (!isScalarType(type)) throw new Error(`${type.name} is neither an enum nor a scalar.`);
  const schema = builtIn[type.name] ?? (type.extensions["jsonSchema"] as JsonSchema | undefined);
  if (schema === undefined) throw new Error(`The scalar ${type.name} must have the extension jsonSchema.`);
  // Removes duplicate examples. Mesh merges the extensions of a scalar type from several sources, so the same
  // example can occur several times.
  return Array.isArray(schema["examples"])
    ? { ...schema, examples: [...new Set<unknown>(schema["examples"])] }
    : schema;
}

const withDescription = (description: string | null | undefined): JsonSchema =>
  description ? { description } : {};

function orNull(schema: JsonSchema): JsonSchema {
  if (typeof schema.type !== "string" || schema["oneOf"] !== undefined)
    return { anyOf: [schema, { type: "null" }] };
  const { enum: values, ...rest } = schema;
  return {
    ...rest,
    type: [schema.type, "null"],
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
  };
}

/**
 * Returns the JSON Schema of the data that a GraphQL selection returns. The data always has every selected
 * field; a field without a value is null.
 */
export function convertGraphqlSelectionToJsonSchema(
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
  components: OpenApiSchemaComponents,
): JsonSchema {
  if (isNonNullType(type)) return toNonNullSchema(type.ofType, selection, components);
  return orNull(toNonNullSchema(type, selection, components));
}

function toNonNullSchema(
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
  components: OpenApiSchemaComponents,
): JsonSchema {
  if (isListType(type))
    return {
      type: "array",
      items: convertGraphqlSelectionToJsonSchema(type.ofType as GraphQLOutputType, selection, components),
    };
  if (!isObjectType(type)) return withAnswerPattern(toLeafSchema(type as GraphQLNamedType));
  const properties: Record<string, JsonSchema> = {};
  for (const node of getSelectedGraphqlFields(selection)) {
    if (isGraphqlFieldOnlyForHttpHeader(node)) continue;
    const field = type.getFields()[node.name.value];
    if (field === undefined) throw new Error(`${type.name} has no field ${node.name.value}.`);
    properties[node.alias?.value ?? node.name.value] = {
      ...convertGraphqlSelectionToJsonSchema(
        getOriginalGraphqlFieldType(field),
        node.selectionSet,
        components,
      ),
      ...withDescription(getFieldDescriptionWithoutNotes(field)),
    };
  }
  const shape: JsonSchema = {
    type: "object",
    ...withDescription(type.description),
    properties,
    required: Object.keys(properties),
  };
  return toSchemaReference(type.name, shape, components);
}

/**
 * Adds the pattern of upper-case country codes to a schema of answers. Requests may also contain lower-case
 * country codes.
 */
function withAnswerPattern(schema: JsonSchema): JsonSchema {
  return schema["format"] === "country-code" ? { ...schema, pattern: "^[A-Z]{2}$" } : schema;
}

/**
 * Adds a schema to `components/schemas` under the type's name and returns a reference to it. Returns the
 * schema itself if this name is already used for a different schema, because another selection of the type
 * has other fields.
 */
function toSchemaReference(
  name: string,
  schema: JsonSchema,
  components: OpenApiSchemaComponents,
): JsonSchema {
  const known = components.get(name);
  if (known === undefined) components.set(name, schema);
  else if (JSON.stringify(known) !== JSON.stringify(schema)) return schema;
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Returns true if a selected field has the directive `@headerOnly`. Such a field is needed for a header of
 * the answer, and is not part of the body.
 */
export const isGraphqlFieldOnlyForHttpHeader = ({ directives = [] }: FieldNode): boolean =>
  directives.some(({ name }) => name.value === "headerOnly");

/**
 * Returns the fields of a selection. Throws if the selection contains a fragment, because `mesh/documents.ts`
 * should have replaced all fragments by their fields.
 */
export function getSelectedGraphqlFields(selection: SelectionSetNode | undefined): FieldNode[] {
  return (selection?.selections ?? []).map((node) => {
    if (node.kind !== Kind.FIELD)
      throw new Error(
        "A selection for REST must have only fields: fragments are inlined before, and unions are not " +
          "supported.",
      );
    return node;
  });
}

type InputDeclaration = GraphQLArgument | GraphQLInputField;

/**
 * Returns the JSON Schema of an argument or input field, with the description, default value and bounds that
 * the GraphQL schema declares.
 */
export function convertGraphqlInputTypeToJsonSchema(
  type: GraphQLInputType,
  declared?: InputDeclaration,
): JsonSchema {
  if (isNonNullType(type)) return convertGraphqlInputTypeToJsonSchema(type.ofType, declared);
  const extra = {
    ...withDescription(declared?.description),
    ...(declared?.defaultValue === undefined ? {} : { default: declared.defaultValue }),
  };
  if (isListType(type))
    return {
      type: "array",
      items: convertGraphqlInputTypeToJsonSchema(type.ofType),
      ...getBounds(declared),
      ...extra,
    };
  if (!isInputObjectType(type)) return { ...toLeafSchema(type), ...getBounds(declared), ...extra };
  const fields = Object.values(type.getFields());
  return {
    type: "object",
    ...withDescription(type.description),
    properties: Object.fromEntries(
      fields.map((field) => [field.name, convertGraphqlInputTypeToJsonSchema(field.type, field)]),
    ),
    required: fields.filter(isRequiredInputField).map(({ name }) => name),
    additionalProperties: false,
  };
}

/**
 * Converts the zod schema of an argument or input field to JSON Schema keywords, for example `maximum`.
 * GraphQL requests are checked with the same zod schema.
 */
function getBounds(declared: InputDeclaration | undefined): JsonSchema {
  const schemas = declared?.extensions["@pothos/plugin-validation"] as { schemas?: z.ZodType[] } | undefined;
  return Object.assign(
    {},
    ...(schemas?.schemas ?? []).map((schema) =>
      withoutDialect(z.toJSONSchema(schema, { io: "input" }) as JsonSchema),
    ),
  ) as JsonSchema;
}

function withoutDialect({ $schema: _dialect, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
