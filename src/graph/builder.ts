/**
 * The Pothos builder of the graph: scalars, plugins, authorization, the failure of a validation rule, and
 * enums.
 */
import SchemaBuilder from "@pothos/core";
import ComplexityPlugin from "@pothos/plugin-complexity";
import RelayPlugin from "@pothos/plugin-relay";
import ScopeAuthPlugin from "@pothos/plugin-scope-auth";
import ValidationPlugin from "@pothos/plugin-validation";
import { fail, type Failure, type FailureDetail } from "#foundation/failure.ts";
import { authScopes, type CallerKind, type GraphContext } from "./context.ts";

interface OutputScalar<Input, Output = Input> {
  Input: Input;
  Output: Output;
}

export interface GraphTypes {
  Context: GraphContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  AuthScopes: { callers: readonly CallerKind[] };
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
    authScopes,
    unauthorizedError: () => fail("role_not_allowed"),
    // Refuses a subscription before its stream begins, not with its first event.
    authorizeOnSubscribe: true,
  },
  validation: { validationError: ({ issues }) => toValidationFailure(issues) },
  // The cost of a query is found once, before it runs (mesh/plugins/limits.ts); the own documents of this
  // service were measured when they were written.
  complexity: { disabled: true, defaultListMultiplier: 20 },
});

/** The part of a Standard Schema issue that is read here; zod's issues carry the rest. */
interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  readonly code?: string;
  readonly format?: string;
  readonly origin?: string;
}

function toValidationFailure(issues: readonly Issue[]): Failure {
  const details = issues.map(toDetail);
  return fail("invalid_field", {
    details,
    ...(details[0] === undefined ? {} : { message: `${details[0].field}: ${details[0].message}` }),
  });
}

function toDetail(issue: Issue): FailureDetail {
  const path = (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step));
  // An input type is exactly a REST body, so its fields are named as in the body: without the argument's own
  // name.
  const steps = path[0] === "input" ? path.slice(1) : path;
  return {
    in: "body",
    field: `/${steps.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`,
    code: ruleOf(issue),
    message: issue.message,
  };
}

/** The same words for the same rules as the gateway's validation uses for JSON Schema's. */
function ruleOf({ code, origin }: Issue): string {
  const isLength = origin === "string" || origin === "array";
  if (code === "too_small") return isLength ? "too_short" : "too_small";
  if (code === "too_big") return isLength ? "too_long" : "too_large";
  if (code === "invalid_format") return "pattern_mismatch";
  if (code === "invalid_type") return "wrong_type";
  if (code === "invalid_value") return "not_allowed";
  return "invalid";
}

interface EnumParts<Value extends string> {
  readonly description: string;
  /** The value as stored, and its description. */
  readonly values: Readonly<Record<Value, string>>;
}

/**
 * Defines an enum: UPPER_SNAKE in the graph, lower_snake (of scopes with a colon) in the database and over
 * REST.
 */
// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the ref.
export function defineEnum<Value extends string>(name: string, { description, values }: EnumParts<Value>) {
  const defined: Record<string, { value: Value; description: string }> = {};
  for (const value in values)
    defined[value.replace(":", "_").toUpperCase()] = { value, description: values[value] };
  return builder.enumType(name, { description, values: defined });
}
