/** What the map asks the graph about itself, and the shape of the answer. */

export const mapQuery = `query TypeMap {
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

interface Told {
  readonly name: string;
  readonly description: string | null;
}

export interface ToldInput extends Told {
  readonly type: NamedType;
  readonly defaultValue: string | null;
}

export interface ToldField extends Told {
  readonly type: NamedType;
  readonly args: readonly ToldInput[];
  readonly deprecationReason: string | null;
}

export interface ToldType extends Told {
  readonly kind: string;
  readonly fields: readonly ToldField[] | null;
  readonly inputFields: readonly ToldInput[] | null;
  readonly enumValues: readonly (Told & { readonly deprecationReason: string | null })[] | null;
  readonly interfaces: readonly { readonly name: string }[] | null;
  readonly possibleTypes: readonly { readonly name: string }[] | null;
}

export interface ToldSchema {
  readonly queryType: { readonly name: string };
  readonly mutationType: { readonly name: string } | null;
  readonly subscriptionType: { readonly name: string } | null;
  readonly types: readonly ToldType[];
}

/** As GraphQL writes it: `[Order!]!`. */
export function spell({ kind, name, ofType }: NamedType): string {
  if (ofType === null || ofType === undefined) return name ?? "";
  return kind === "NON_NULL" ? `${spell(ofType)}!` : `[${spell(ofType)}]`;
}

/** Without lists and non-nulls. */
export const innermost = ({ name, ofType }: NamedType): string =>
  ofType === null || ofType === undefined ? (name ?? "") : innermost(ofType);
