/**
 * Limits of the form of documents that clients write, checked when they are parsed and validated: tokens,
 * depth, aliases, directives, length of names, faults per answer, and introspection as tools ask for it.
 */
import { maxAliasesPlugin } from "@escape.tech/graphql-armor-max-aliases";
import { maxDepthPlugin } from "@escape.tech/graphql-armor-max-depth";
import { maxDirectivesPlugin } from "@escape.tech/graphql-armor-max-directives";
import { maxTokensPlugin } from "@escape.tech/graphql-armor-max-tokens";
import { type ASTVisitor, GraphQLError, type ValidationContext, visit } from "graphql";
import type { Plugin } from "graphql-yoga";
import {
  queryAliasesMax,
  queryDepthMax,
  queryDirectivesMax,
  validationErrorsMax,
  queryTokensMax,
} from "#graph/limits.ts";

export default (): Plugin => {
  const tokens: Plugin = maxTokensPlugin({ n: queryTokensMax });
  const rules = [
    maxDepthPlugin({ n: queryDepthMax, ignoreIntrospection: true }),
    maxAliasesPlugin({ n: queryAliasesMax, allowList: [] }),
    maxDirectivesPlugin({ n: queryDirectivesMax }),
  ] as Plugin[];
  return {
    onParse: (parsing) => tokens.onParse?.(parsing),
    onValidate: (validation) => {
      for (const { onValidate } of rules) onValidate?.(validation);
      const { addValidationRule, validateFn, setValidationFn } = validation;
      addValidationRule(shortNames);
      addValidationRule(plainIntrospection);
      setValidationFn(limitFaults(validateFn as ValidateFn) as typeof validateFn);
    },
  };
};

type Rules = readonly [rules?: readonly unknown[], options?: { readonly maxErrors: number }];
type ValidateFn = (schema: unknown, document: unknown, ...given: Rules) => unknown;

/**
 * A refusal of the REST contract has at most this many details, too. Each fault is sent with a whole error
 * body.
 */
const limitFaults =
  (validate: ValidateFn): ValidateFn =>
  (schema, document, ...[rules]) =>
    validate(schema, document, rules, { maxErrors: validationErrorsMax });

const nameLengthMax = 200;

/** GraphQL compares an unknown name with all known ones letter by letter, and repeats it in its message. */
const shortNames = (): ASTVisitor => ({
  Document(document) {
    visit(document, {
      Name(node) {
        if (node.value.length > nameLengthMax)
          throw new GraphQLError(`Syntax Error: A name has more than ${nameLengthMax} characters.`);
      },
    });
  },
});

const typesAskedMax = 10;

/**
 * Introspection has no cost, and each further name for the same field would write the whole schema out again.
 * Under one name a field is answered once, however often it is selected. `__type` may have several names, one
 * for each type.
 */
function plainIntrospection(context: ValidationContext): ASTVisitor {
  let typesAsked = 0;
  const names = new Map<string, string>();
  return {
    Field(node) {
      const { value: field } = node.name;
      if (field === "__type" && ++typesAsked === typesAskedMax + 1)
        context.reportError(
          new GraphQLError(`A query may ask for ${typesAskedMax} types with __type.`, { nodes: node }),
        );
      const owner = context.getParentType()?.name ?? "";
      if (field !== "__schema" && !owner.startsWith("__")) return;
      const name = node.alias?.value ?? field;
      const known = names.get(`${owner}.${field}`);
      if (known === undefined) names.set(`${owner}.${field}`, name);
      else if (name !== known)
        context.reportError(
          new GraphQLError("Introspection asks for each field under one name, but for __type.", {
            nodes: node,
          }),
        );
    },
  };
}
