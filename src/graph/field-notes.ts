/**
 * Writes the roles, the cost and the error codes of each GraphQL field into the schema. Roles and cost are
 * written as directives, for programs that read the SDL. All three are also written as sentences at the end
 * of the field's description, because introspection does not return the directives of fields. The values are
 * read from the options with which the service checks access and computes costs.
 */
import {
  DirectiveLocation,
  GraphQLDirective,
  type GraphQLEnumType,
  type GraphQLField,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLSchema,
  type GraphQLResolveInfo,
  GraphQLString,
  isEnumType,
  isInterfaceType,
  isObjectType,
} from "graphql";
import { internalTokenRoles, type InternalTokenRole } from "#access/viewer.ts";
import { createFailure, type Failure } from "#foundation/failure.ts";
import type { CallerKind, GraphqlContext } from "./context.ts";
import { describeGraphqlFieldCost, type GraphqlFieldCost, getGraphqlFieldCost } from "./field-costs.ts";

type Field = GraphQLField<unknown, unknown>;
type DirectiveArguments = Readonly<Record<string, unknown>>;

declare module "graphql" {
  // eslint-disable-next-line no-unused-vars -- A merged declaration has the type parameters of the original.
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The options with which the GraphQL field was defined. Pothos sets this extension. */
    readonly pothosOptions?:
      | {
          readonly authScopes?: { readonly callers: readonly CallerKind[] };
          readonly resolve?: ((...parameters: never[]) => unknown) | undefined;
        }
      | undefined;
    /** The description of the field without its roles, cost and error codes; null if it has none. */
    readonly plainDescription?: string | null | undefined;
    /** The directives of the GraphQL field. graphql-tools reads the directives from this extension. */
    readonly directives?: Readonly<Record<string, DirectiveArguments>> | undefined;
  }
}

/**
 * Adds the roles, cost and error codes of each field to the field's directives and description. Changes the
 * given schema itself and returns it.
 */
export function documentRolesCostsAndErrorsOfFields(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith("__") || (!isObjectType(type) && !isInterfaceType(type))) continue;
    for (const field of Object.values(type.getFields())) addNotes(field);
  }
  const role = schema.getType("Role");
  if (!isEnumType(role)) throw new Error("The schema has no enum Role.");
  const config = schema.toConfig();
  return new GraphQLSchema({ ...config, directives: [...config.directives, ...createDirectives(role)] });
}

function addNotes(field: Field): void {
  const roles = getRolesAllowedToReadField(field);
  const cost = getGraphqlFieldCost(field);
  const notes = [
    roles === null ? "" : describeRoles(roles),
    describeGraphqlFieldCost(cost),
    describeFailures(field.extensions.change?.failures ?? []),
  ].filter((note) => note !== "");
  if (notes.length === 0) return;
  field.extensions = {
    ...field.extensions,
    plainDescription: field.description ?? null,
    directives: {
      ...(roles === null ? {} : { access: { roles } }),
      ...(describeGraphqlFieldCost(cost) === "" ? {} : { cost: toCostArguments(cost) }),
    },
  };
  field.description = [field.description, ...notes].join(" ");
}

/** Returns the description of a field without its roles, cost and error codes, as the REST API shows it. */
export const getFieldDescriptionWithoutNotes = ({
  description,
  extensions,
}: Pick<Field, "description" | "extensions">): string | null | undefined =>
  extensions.plainDescription === undefined ? description : extensions.plainDescription;

/**
 * Returns the roles of internal tokens that may read a field. Null if the field has no restriction of its
 * own: every role that may read the object may then read the field. Callers without GraphQL access (REST, and
 * the service itself) are left out.
 */
export function getRolesAllowedToReadField({
  extensions,
}: Pick<Field, "extensions">): readonly InternalTokenRole[] | null {
  const callers = extensions.pothosOptions?.authScopes?.callers;
  return callers === undefined ? null : internalTokenRoles.filter((role) => callers.includes(role));
}

/**
 * Returns the failure `role_not_allowed` for a field. Its message names the field, the caller's role and the
 * roles that may use the field.
 */
export function createRoleNotAllowedFailure(
  { viewer }: Pick<GraphqlContext, "viewer">,
  { parentType, fieldName }: Pick<GraphQLResolveInfo, "parentType" | "fieldName">,
): Failure {
  const field = parentType.getFields()[fieldName];
  const roles = field === undefined ? null : getRolesAllowedToReadField(field);
  const caller = viewer.kind === "internal" ? `The role ${viewer.role.toUpperCase()}` : "The caller";
  const refused = `${caller} may not use the field ${parentType.name}.${fieldName}.`;
  return createFailure("role_not_allowed", {
    message: roles === null || roles.length === 0 ? refused : `${refused} ${describeRoles(roles)}`,
  });
}

const describeRoles = (roles: readonly InternalTokenRole[]): string =>
  `Roles: ${roles.map((role) => role.toUpperCase()).join(", ")}.`;

const describeFailures = (codes: readonly string[]): string =>
  codes.length === 0 ? "" : `Error codes: ${codes.map((code) => `\`${code}\``).join(", ")}.`;

const toCostArguments = ({ points, multiplier, sizedBy }: GraphqlFieldCost): DirectiveArguments => ({
  ...(points === 1 ? {} : { points }),
  ...(multiplier === 1 ? {} : { multiplier }),
  ...(sizedBy.length === 0 ? {} : { sizedBy }),
});

const createDirectives = (role: GraphQLEnumType): readonly GraphQLDirective[] => [
  new GraphQLDirective({
    name: "access",
    description:
      "The roles whose tokens may read the field or run the mutation. Every other role gets the error " +
      "`role_not_allowed`. Without this directive, every role that may read the object may read the field.",
    locations: [DirectiveLocation.FIELD_DEFINITION],
    args: {
      roles: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(role))),
        description: "The roles of internal tokens that may read the field or run the mutation.",
      },
    },
  }),
  new GraphQLDirective({
    name: "cost",
    description:
      "The cost of the field in points: `points`, plus the cost of the fields that are selected below the " +
      "field, multiplied by `multiplier`. For example, a connection with `first: 50` costs 1 point, plus 50 " +
      "times the cost of the fields that are selected below the connection. Without this directive, a field " +
      "costs 1 point, plus the cost of the selected fields. The answer says the cost of the whole document " +
      "and its limit in `extensions.cost`.",
    locations: [DirectiveLocation.FIELD_DEFINITION],
    args: {
      points: {
        type: new GraphQLNonNull(GraphQLInt),
        defaultValue: 1,
        description: "The cost of the field itself, in points.",
      },
      multiplier: {
        type: GraphQLInt,
        defaultValue: 1,
        description:
          "The factor by which the cost of the selected fields is multiplied. If the directive has " +
          "`sizedBy`, `multiplier` is the factor of a query without the arguments in `sizedBy`, and null " +
          "if one of these arguments is required.",
      },
      sizedBy: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString))),
        defaultValue: [],
        description:
          "The names of the arguments that set the factor, for example the page size. If a query gives " +
          "several of the arguments, only the first in this list counts, unless the description of the " +
          "field says otherwise.",
      },
    },
  }),
];
