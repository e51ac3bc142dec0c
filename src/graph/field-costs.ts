/**
 * Returns the cost of a GraphQL field, and the sentence of the schema that describes the cost. Both come from
 * the options from which `mesh/plugins/limits.ts` computes the cost of a document.
 */
import {
  type GraphQLField,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
} from "graphql";

/** The cost of a GraphQL field, in the form in which `@pothos/plugin-complexity` reads it. */
interface ComputedCost {
  /** The cost of the GraphQL field itself in points, without the fields below it; 1 if left out. */
  readonly field?: number;
  /** The factor by which the cost of the fields below this field is multiplied. */
  readonly multiplier?: number;
}

/** The arguments of a GraphQL field that determine the multiplier of the field's cost, for example `first`. */
interface FactorArguments {
  /**
   * The names of the arguments that determine the multiplier, most important first. If a query gives several
   * of them, only the most important one counts.
   */
  readonly sizedBy: readonly string[];
  /**
   * The formula of the multiplier as text for the field's description, for example "`pageSize` / 20, at least
   * 1".
   */
  readonly factor: string;
}

type ArgumentCost = Partial<FactorArguments> & ((args: never) => ComputedCost);

/**
 * Defines the cost of a GraphQL field as a function of the field's arguments, together with the description
 * of the cost.
 */
export const defineGraphqlFieldCostByArguments = <Args>(
  { sizedBy, factor }: FactorArguments,
  compute: (args: Args) => Required<ComputedCost>,
): FactorArguments & ((args: Args) => Required<ComputedCost>) => Object.assign(compute, { sizedBy, factor });

declare module "graphql" {
  // eslint-disable-next-line no-unused-vars -- A merged declaration has the type parameters of the original.
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The cost of the field. The complexity plugin of Pothos sets and reads this extension. */
    readonly complexity?: number | ComputedCost | ArgumentCost | undefined;
  }
}

/** The cost of a GraphQL field, in points. */
export interface GraphqlFieldCost {
  /** The cost of the field itself, in points, without the fields below it. */
  readonly points: number;
  /**
   * The factor by which the cost of the nested fields is multiplied. If arguments determine the factor, the
   * value is the factor of a query without these arguments. Null if such an argument is required.
   */
  readonly multiplier: number | null;
  /** The names of the arguments that determine the multiplier of the field's cost. */
  readonly sizedBy: readonly string[];
  /** The formula of the multiplier as text; null if no argument determines the multiplier. */
  readonly factor: string | null;
}

type Field = GraphQLField<unknown, unknown>;

/** The multiplier of a list field whose cost defines none. The complexity plugin uses the same number. */
const pluginListMultiplier = 10;

/** Returns the cost of a GraphQL field. */
export function getGraphqlFieldCost(field: Field): GraphqlFieldCost {
  const { complexity = 1 } = field.extensions;
  if (typeof complexity === "function") return readArgumentCost(field, complexity);
  const cost = typeof complexity === "number" ? { field: complexity } : complexity;
  const multiplier = cost.multiplier ?? (isListType(getNullableType(field.type)) ? pluginListMultiplier : 1);
  return {
    points: cost.field ?? 1,
    multiplier: isLeafType(getNamedType(field.type)) ? 1 : multiplier,
    sizedBy: [],
    factor: null,
  };
}

function readArgumentCost({ name, args }: Field, compute: ArgumentCost): GraphqlFieldCost {
  const { sizedBy, factor } = compute;
  if (sizedBy === undefined || factor === undefined)
    throw new Error(
      `The cost of the field ${name} depends on arguments: define it with defineGraphqlFieldCostByArguments.`,
    );
  const defaults = Object.fromEntries(
    args.flatMap((argument) =>
      argument.defaultValue === undefined ? [] : [[argument.name, argument.defaultValue]],
    ),
  );
  const { field: points = 1, multiplier = 1 } = compute(defaults as never);
  const isRequired = args.some(
    (argument) =>
      sizedBy.includes(argument.name) && argument.defaultValue === undefined && isNonNullType(argument.type),
  );
  return { points, multiplier: isRequired ? null : multiplier, sizedBy, factor };
}

/** Describes the cost of a field in one sentence; empty for the default cost. */
export function describeGraphqlFieldCost({ points, multiplier, factor }: GraphqlFieldCost): string {
  if (points === 1 && multiplier === 1 && factor === null) return "";
  const own = `Cost: ${points} ${points === 1 ? "point" : "points"}`;
  if (multiplier === 0) return `${own}; the selected fields cost nothing.`;
  if (factor === null)
    return multiplier === 1
      ? `${own}, plus the cost of the selected fields.`
      : `${own}, plus ${multiplier} times the cost of the selected fields.`;
  const fallback = multiplier === null ? "" : ` (by default ${multiplier})`;
  return `${own}, plus the cost of the selected fields times ${factor}${fallback}.`;
}
