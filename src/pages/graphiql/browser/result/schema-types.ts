/** Finds the type of a list's items in the schema that GraphiQL has loaded. */

/** The properties that this file reads from a type object of the npm package `graphql`. */
interface SchemaType {
  readonly name?: string;
  /** The type that a list type or non-null type contains. */
  readonly ofType?: SchemaType;
  readonly getFields?: () => Readonly<Record<string, { readonly type: SchemaType }>>;
}

export interface LoadedGraphqlSchema {
  readonly getType: (name: string) => SchemaType | null | undefined;
  readonly getQueryType: () => SchemaType | null | undefined;
  readonly getMutationType: () => SchemaType | null | undefined;
  readonly getSubscriptionType: () => SchemaType | null | undefined;
}

/**
 * Returns the name of the type of a list's items. Undefined if a field of the path is not in the schema, for
 * example because the operation has renamed the field with an alias.
 */
export function getItemTypeNameOfAnswerList(schema: LoadedGraphqlSchema, path: string): string | undefined {
  const names = path.split(".");
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const found = roots.map((root) =>
    names.reduce<SchemaType | undefined>((type, name) => fieldTypeOf(type, name), root ?? undefined),
  );
  return found.find((type) => type !== undefined)?.name;
}

/**
 * Returns the type of a field. If the field is a connection (a list with cursors), returns the type of its
 * nodes.
 */
function fieldTypeOf(type: SchemaType | undefined, name: string): SchemaType | undefined {
  const result = plainFieldType(type, name);
  return plainFieldType(plainFieldType(result, "edges"), "node") ?? result;
}

function plainFieldType(type: SchemaType | undefined, name: string): SchemaType | undefined {
  const fields = type?.getFields?.() ?? {};
  return Object.hasOwn(fields, name) ? unwrap(fields[name]?.type) : undefined;
}

const unwrap = (type: SchemaType | undefined): SchemaType | undefined =>
  type?.ofType === undefined ? type : unwrap(type.ofType);
