/**
 * What a document is checked against: each of GraphQL's rules once, since Mesh and Yoga both bring all of them, no more faults than anybody reads, no
 * endless names, and introspection as the tools ask for it. Introspection has no cost of its own, and each further name would write the whole schema out again.
 */
import { type ASTVisitor, GraphQLError, type ValidationContext, visit } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { GraphContext } from "#graph/context.ts";

type Given = readonly [rules?: readonly unknown[], options?: { readonly maxErrors: number }];
type ValidateFn = (schema: unknown, document: unknown, ...given: Given) => unknown;

/** As many as a refusal of the REST contract has details. Each is told with a whole error body. */
export const faultsMax = 20;

/** Stands after the plugins that add rules. */
export function checkOnce(): Plugin<GraphContext> {
  return {
    onValidate({ validateFn, setValidationFn }) {
      const validate = validateFn as ValidateFn;
      const checked: ValidateFn = (schema, document, ...[rules]) =>
        validate(schema, document, rules && [...new Set(rules)], { maxErrors: faultsMax });
      setValidationFn(checked as typeof validateFn);
    },
  };
}

/** Stands first: what it refuses is not looked at by another. */
export function limitNames(): Plugin<GraphContext> {
  return {
    onValidate({ addValidationRule }) {
      addValidationRule(shortNames);
    },
  };
}

const nameLengthMax = 200;

/** What is unknown is compared with all that is known, letter by letter, and told with its name. */
const shortNames = (): ASTVisitor => ({
  Document(document) {
    visit(document, {
      Name(node) {
        if (node.value.length > nameLengthMax) throw new GraphQLError(`Syntax Error: A name has more than ${nameLengthMax} characters.`);
      },
    });
  },
});

export function limitIntrospection(): Plugin<GraphContext> {
  return {
    onValidate({ addValidationRule }) {
      addValidationRule(plainIntrospection);
    },
  };
}

const typesAskedMax = 10;

/** Under one name, what is asked twice is answered once: an alias does no harm, a second one does. `__type` needs them to be asked of several types. */
function plainIntrospection(context: ValidationContext): ASTVisitor {
  let typesAsked = 0;
  const names = new Map<string, string>();
  return {
    Field(node) {
      const { value: field } = node.name;
      if (field === "__type" && ++typesAsked === typesAskedMax + 1)
        context.reportError(new GraphQLError(`A query may ask for ${typesAskedMax} types with __type.`, { nodes: node }));
      const owner = context.getParentType()?.name ?? "";
      if (field !== "__schema" && !owner.startsWith("__")) return;
      const name = node.alias?.value ?? field;
      const known = names.get(`${owner}.${field}`);
      if (known === undefined) names.set(`${owner}.${field}`, name);
      else if (name !== known)
        context.reportError(new GraphQLError("Introspection asks for each field under one name, but for __type.", { nodes: node }));
    },
  };
}
