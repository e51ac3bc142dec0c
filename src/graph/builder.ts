/** The Pothos builder of the graph: its scalars, who may call what, the limits of a query, and how a broken rule is told. */
import SchemaBuilder from "@pothos/core";
import ComplexityPlugin from "@pothos/plugin-complexity";
import RelayPlugin from "@pothos/plugin-relay";
import ScopeAuthPlugin from "@pothos/plugin-scope-auth";
import ValidationPlugin from "@pothos/plugin-validation";
import type { Role } from "#access/scopes.ts";
import type { Viewer } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import type { GraphContext } from "./context.ts";
import { toValidationFailure } from "./validation.ts";

/**
 * Who a field is open to: anonymous callers and integrators come over REST, the roles are those of internal tokens; `system` renders events, and `buyer`
 * is on the page of one checkout session.
 */
export type Caller = "anonymous" | "api_key" | "oauth" | "system" | "buyer" | Role;

interface OutputScalar<Input, Output = Input> {
  Input: Input;
  Output: Output;
}

export interface GraphTypes {
  Context: GraphContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  AuthScopes: { callers: readonly Caller[] };
  Scalars: {
    ID: OutputScalar<string>;
    DateTime: OutputScalar<Date, Date | string>;
    Date: OutputScalar<string>;
    MinorUnits: OutputScalar<number>;
    CurrencyCode: OutputScalar<string>;
    CountryCode: OutputScalar<string>;
    LocaleCode: OutputScalar<string>;
    Slug: OutputScalar<string>;
    URL: OutputScalar<string>;
    SearchText: OutputScalar<string>;
    AttributeValue: OutputScalar<string | number | boolean | string[], unknown>;
    StringMap: OutputScalar<Record<string, string>, Readonly<Record<string, string>>>;
    JSON: OutputScalar<unknown>;
  };
  Connection: { totalCount: () => Promise<number> };
}

export const builder = new SchemaBuilder<GraphTypes>({
  plugins: [ScopeAuthPlugin, ValidationPlugin, ComplexityPlugin, RelayPlugin],
  defaultFieldNullability: false,
  relay: {
    clientMutationId: "omit",
    cursorType: "String",
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    pageInfoTypeOptions: { description: "Where a page of a list stands (Relay cursor connections)." },
    hasNextPageFieldOptions: { description: "Whether more follow." },
    hasPreviousPageFieldOptions: { description: "Whether some come before." },
    startCursorFieldOptions: { description: "The cursor of the first on the page." },
    endCursorFieldOptions: { description: "The cursor of the last on the page." },
    pageInfoFieldOptions: { description: "Where the page stands." },
    // The page's size is counted with the list itself.
    edgesFieldOptions: { description: "The page.", nullable: false, complexity: { field: 0, multiplier: 1 } },
    cursorFieldOptions: { description: "Its place in the list, for `after` and `before`." },
    nodeFieldOptions: { description: "The thing itself.", nullable: false },
    firstArgOptions: { description: "How many from the beginning, 100 at most; 20 unless told." },
    lastArgOptions: { description: "How many from the end, 100 at most." },
    afterArgOptions: { description: "Only what comes after this cursor." },
    beforeArgOptions: { description: "Only what comes before this cursor." },
  },
  scopeAuth: {
    authScopes: ({ viewer }) => ({ callers: (callers: readonly Caller[]): boolean => callers.includes(callerOf(viewer)) }),
    unauthorizedError: () => fail("role_not_allowed"),
    // Told before a stream begins, and not by its first event.
    authorizeOnSubscribe: true,
  },
  validation: { validationError: ({ issues }) => toValidationFailure(issues) },
  // The cost of a query is found once, before it runs (mesh/plugins/limits.ts); the own documents of this service were measured when they were written.
  complexity: { disabled: true, defaultListMultiplier: 20 },
});

export function callerOf(viewer: Viewer): Caller {
  return viewer.kind === "internal" ? viewer.role : viewer.kind;
}

/** Everything of one merchant, for who runs it. */
export const staff: readonly Caller[] = ["admin", "operator"];
/** Reading it, without its buyers. */
export const readers: readonly Caller[] = ["admin", "operator", "analyst"];
/** The platform alone. */
export const platform: readonly Caller[] = ["operator"];
/** Apps that a merchant has let in, whatever they show. */
export const integrators: readonly Caller[] = ["api_key", "oauth"];
export const everybody: readonly Caller[] = ["anonymous", ...integrators, "storefront", "admin", "analyst", "operator"];
