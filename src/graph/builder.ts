/**
 * Creates the Pothos builder with which all files of src/graph define the GraphQL schema: its scalars,
 * plugins, authorization and list types.
 */
import SchemaBuilder from "@pothos/core";
import ComplexityPlugin from "@pothos/plugin-complexity";
import RelayPlugin from "@pothos/plugin-relay";
import ScopeAuthPlugin from "@pothos/plugin-scope-auth";
import ValidationPlugin from "@pothos/plugin-validation";
import { argumentFaultsPlugin, InvalidArgumentsError } from "./argument-faults.ts";
import { createRoleNotAllowedFailure } from "./field-notes.ts";
import { createGraphqlFieldAuthScopes, type CallerKind, type GraphqlContext } from "./context.ts";

interface ScalarTypes<Input, Output = Input> {
  Input: Input;
  Output: Output;
}

/** The TypeScript types with which Pothos types the context, the scalars and the lists of the GraphQL schema. */
export interface PothosBuilderTypes {
  Context: GraphqlContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  AuthScopes: { callers: readonly CallerKind[] };
  Scalars: {
    ID: ScalarTypes<string>;
    DateTime: ScalarTypes<Date, Date | string>;
    Date: ScalarTypes<string>;
    MinorUnits: ScalarTypes<number>;
    CurrencyCode: ScalarTypes<string>;
    CountryCode: ScalarTypes<string>;
    LocaleCode: ScalarTypes<string>;
    Slug: ScalarTypes<string>;
    URL: ScalarTypes<string>;
    EmailAddress: ScalarTypes<string>;
    PhoneNumber: ScalarTypes<string>;
    SearchText: ScalarTypes<string>;
    AttributeValue: ScalarTypes<string | number | boolean | string[], unknown>;
    StringMap: ScalarTypes<Record<string, string>, Readonly<Record<string, string>>>;
    JSON: ScalarTypes<unknown>;
  };
  Connection: { totalCount: () => Promise<number> };
}

/** The Pothos builder. Every file of src/graph adds its types and fields to this builder. */
export const builder = new SchemaBuilder<PothosBuilderTypes>({
  plugins: [ScopeAuthPlugin, argumentFaultsPlugin, ValidationPlugin, ComplexityPlugin, RelayPlugin],
  defaultFieldNullability: false,
  relay: {
    clientMutationId: "omit",
    cursorType: "String",
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    pageInfoTypeOptions: {
      description:
        "The position of one page of items within the whole list, as in the Relay specification of cursor " +
        "connections.",
    },
    hasNextPageFieldOptions: { description: "Whether the list has items after this page." },
    hasPreviousPageFieldOptions: { description: "Whether the list has items before this page." },
    startCursorFieldOptions: {
      description: "The cursor of the first item of the page; null if the page is empty.",
    },
    endCursorFieldOptions: {
      description: "The cursor of the last item of the page; null if the page is empty.",
    },
    pageInfoFieldOptions: {
      description:
        "The position of this page within the list: its first and last cursor, and whether there are " +
        "other pages.",
    },
    // The multiplier of the field `edges` is 1, because the cost of the connection field is already
    // multiplied by the page size.
    edgesFieldOptions: {
      description: "The items of this page in the order of the list, each with its cursor.",
      nullable: false,
      complexity: { field: 0, multiplier: 1 },
    },
    cursorFieldOptions: {
      description:
        "The position of this item in the list. Pass the cursor as `after` or `before` to read the items " +
        "next to this item.",
    },
    nodeFieldOptions: { description: "The item at this position of the list.", nullable: false },
    firstArgOptions: {
      description:
        "The number of items to return from the beginning of the list: 0 to 100. The default is 20.",
    },
    lastArgOptions: {
      description:
        "The number of items to return from the end of the list: 0 to 100. Not allowed together with `first`.",
    },
    afterArgOptions: { description: "Returns only the items after this cursor." },
    beforeArgOptions: { description: "Returns only the items before this cursor." },
  },
  scopeAuth: {
    authScopes: createGraphqlFieldAuthScopes,
    unauthorizedError: (_parent, context, info) => createRoleNotAllowedFailure(context, info),
    // With this option, Pothos checks whether the caller may subscribe before the stream begins. By default,
    // Pothos checks only when the first event is sent.
    authorizeOnSubscribe: true,
  },
  validation: { validationError: () => new InvalidArgumentsError() },
  // Pothos's cost check is off. `mesh/plugins/limits.ts` checks the cost of clients' documents before they
  // run, and the service's own documents have no cost limit.
  complexity: { disabled: true, defaultListMultiplier: 20 },
});

interface EnumDefinition<Value extends string> {
  readonly description: string;
  /** The values of the GraphQL enum as the database stores them, each with its description. */
  readonly values: Readonly<Record<Value, string>>;
  /**
   * Values of the GraphQL enum that only GraphQL answers contain, never REST answers. The OpenAPI document
   * leaves them out.
   */
  readonly graphOnlyValues?: readonly NoInfer<Value>[];
}

/**
 * Defines a GraphQL enum. An enum value is written in lower snake case in the database and over REST, and in
 * upper snake case in GraphQL. A colon in a value, as in the scope `catalog:read`, becomes an underscore in
 * GraphQL.
 */
// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the ref.
export function defineGraphqlEnum<Value extends string>(
  name: string,
  { description, values, graphOnlyValues = [] }: EnumDefinition<Value>,
) {
  const defined: Record<string, { value: Value; description: string }> = {};
  for (const value in values)
    defined[value.replace(":", "_").toUpperCase()] = { value, description: values[value] };
  return builder.enumType(name, { description, values: defined, extensions: { graphOnlyValues } });
}
