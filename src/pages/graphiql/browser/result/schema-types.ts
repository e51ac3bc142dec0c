/** Finds the type of a list's items in the schema that GraphiQL has loaded. */

/** The properties of a type object of the npm package `graphql` that this file reads. */
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
 * Returns the name of the type of a list's items. Returns undefined if a field of the path is not in the
 * schema, for example because the operation renames it.
 */
export function getTypeNameOfList(schema: LoadedGraphqlSchema, path: string): string | undefined {
  const names = path.split(".");
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const found = roots.map((root) =>
    names.reduce<SchemaType | undefined>((type, name) => fieldTypeOf(type, name), root ?? undefined),
  );
  return found.find((type) => type !== undefined)?.name;
}

/** Returns the type of a field; for a connection the type of its nodes. */
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
