/** The introspection query that reads the schema for the type map, and the TypeScript types of its answer. */

export const typeMapQuery = `query TypeMap {
  schema: __schema {
    queryType { name }
    mutationType { name }
    subscriptionType { name }
    types {
      kind
      name
      description
      fields(includeDeprecated: true) {
        name
        description
        deprecationReason
        type { ...Named }
        args { name description defaultValue type { ...Named } }
      }
      inputFields { name description defaultValue type { ...Named } }
      enumValues(includeDeprecated: true) { name description deprecationReason }
      interfaces { name }
      possibleTypes { name }
    }
  }
}
fragment Named on __Type {
  kind
  name
  ofType { kind name ofType { kind name ofType { kind name } } }
}`;

interface NamedType {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType?: NamedType | null;
}

interface IntrospectedElement {
  readonly name: string;
  readonly description: string | null;
}

export interface IntrospectedInputValue extends IntrospectedElement {
  readonly type: NamedType;
  readonly defaultValue: string | null;
}

export interface IntrospectedField extends IntrospectedElement {
  readonly type: NamedType;
  readonly args: readonly IntrospectedInputValue[];
  readonly deprecationReason: string | null;
}

export interface IntrospectedType extends IntrospectedElement {
  readonly kind: string;
  readonly fields: readonly IntrospectedField[] | null;
  readonly inputFields: readonly IntrospectedInputValue[] | null;
  readonly enumValues:
    | readonly (IntrospectedElement & { readonly deprecationReason: string | null })[]
    | null;
  readonly interfaces: readonly { readonly name: string }[] | null;
  readonly possibleTypes: readonly { readonly name: string }[] | null;
}

export interface IntrospectedSchema {
  readonly queryType: { readonly name: string };
  readonly mutationType: { readonly name: string } | null;
  readonly subscriptionType: { readonly name: string } | null;
  readonly types: readonly IntrospectedType[];
}

/** Writes a reference to a type in GraphQL's notation, for example `[Order!]!`. */
export function formatGraphqlTypeReference({ kind, name, ofType }: NamedType): string {
  if (ofType === null || ofType === undefined) return name ?? "";
  return kind === "NON_NULL"
    ? `${formatGraphqlTypeReference(ofType)}!`
    : `[${formatGraphqlTypeReference(ofType)}]`;
}

/**
 * Returns the name of the type to which a reference leads, without list brackets and exclamation marks:
 * `Order` for `[Order!]!`.
 */
export const getUnwrappedGraphqlTypeName = ({ name, ofType }: NamedType): string =>
  ofType === null || ofType === undefined ? (name ?? "") : getUnwrappedGraphqlTypeName(ofType);
