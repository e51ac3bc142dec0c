/**
 * JSON Schemas (2020-12) of what the graph takes and gives: the one source of the OpenAPI document and of the
 * gateway's validation.
 */
import {
  type FieldNode,
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
import { getDeclaredType } from "#mesh/contract-schema.ts";

export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/**
 * Collects the schemas of object types, so that one shape stands once in the document under the graph's name
 * for it.
 */
export type SchemaComponents = Map<string, JsonSchema>;

const builtIn: Readonly<Record<string, JsonSchema>> = {
  ID: { type: "string" },
  String: { type: "string" },
  Boolean: { type: "boolean" },
  Int: { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  Float: { type: "number" },
};

export const getEnumValues = (type: GraphQLNamedType): string[] =>
  isEnumType(type) ? type.getValues().map(({ value }) => String(value)) : [];

function leaf(type: GraphQLNamedType): JsonSchema {
  if (isEnumType(type)) return { type: "string", enum: getEnumValues(type) };
  if (!isScalarType(type)) throw new Error(`${type.name} is no leaf.`);
  const schema = builtIn[type.name] ?? (type.extensions["jsonSchema"] as JsonSchema | undefined);
  if (schema === undefined)
    throw new Error(`The scalar ${type.name} does not say what it looks like in JSON.`);
  // Mesh merges the extensions of several sources, and repeats the items of lists.
  return Array.isArray(schema["examples"])
    ? { ...schema, examples: [...new Set<unknown>(schema["examples"])] }
    : schema;
}

const described = (description: string | null | undefined): JsonSchema =>
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

/** What a selection on a type answers. Every selected field is always there; null says that there is nothing. */
export function toAnswerSchema(
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
  components: SchemaComponents,
): JsonSchema {
  if (isNonNullType(type)) return solidShape(type.ofType, selection, components);
  return orNull(solidShape(type, selection, components));
}

function solidShape(
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
  components: SchemaComponents,
): JsonSchema {
  if (isListType(type))
    return { type: "array", items: toAnswerSchema(type.ofType as GraphQLOutputType, selection, components) };
  if (!isObjectType(type)) return outgoing(leaf(type as GraphQLNamedType));
  const properties: Record<string, JsonSchema> = {};
  for (const node of getSelectedFields(selection)) {
    const field = type.getFields()[node.name.value];
    if (field === undefined) throw new Error(`${type.name} has no field ${node.name.value}.`);
    properties[node.alias?.value ?? node.name.value] = {
      ...toAnswerSchema(getDeclaredType(field), node.selectionSet, components),
      ...described(field.description),
    };
  }
  const shape: JsonSchema = {
    type: "object",
    ...described(type.description),
    properties,
    required: Object.keys(properties),
  };
  return named(type.name, shape, components);
}

/** The case-insensitive spelling is for what comes in: what goes out is canonical. */
function outgoing(schema: JsonSchema): JsonSchema {
  return schema["format"] === "country-code" ? { ...schema, pattern: "^[A-Z]{2}$" } : schema;
}

/** A type that is selected in two ways keeps its name for the first and stands in full elsewhere. */
function named(name: string, shape: JsonSchema, components: SchemaComponents): JsonSchema {
  const known = components.get(name);
  if (known === undefined) components.set(name, shape);
  else if (JSON.stringify(known) !== JSON.stringify(shape)) return shape;
  return { $ref: `#/components/schemas/${name}` };
}

export function getSelectedFields(selection: SelectionSetNode | undefined): FieldNode[] {
  return (selection?.selections ?? []).map((node) => {
    if (node.kind !== Kind.FIELD)
      throw new Error(
        "A selection for REST has fields only: fragments are inlined before, and unions are not supported.",
      );
    return node;
  });
}

type Declared = GraphQLArgument | GraphQLInputField;

/** What an argument or input field takes, with the bounds declared for it in the graph. */
export function toInputSchema(type: GraphQLInputType, declared?: Declared): JsonSchema {
  if (isNonNullType(type)) return toInputSchema(type.ofType, declared);
  const extra = {
    ...described(declared?.description),
    ...(declared?.defaultValue === undefined ? {} : { default: declared.defaultValue }),
  };
  if (isListType(type))
    return { type: "array", items: toInputSchema(type.ofType), ...boundsOf(declared), ...extra };
  if (!isInputObjectType(type)) return { ...leaf(type), ...boundsOf(declared), ...extra };
  const fields = Object.values(type.getFields());
  return {
    type: "object",
    ...described(type.description),
    properties: Object.fromEntries(fields.map((field) => [field.name, toInputSchema(field.type, field)])),
    required: fields.filter(isRequiredInputField).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Bounds are declared once, as the zod schema that the graph itself checks with. */
function boundsOf(declared: Declared | undefined): JsonSchema {
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
