/**
 * Limits the form of documents that clients send, when they are parsed and validated: the number of tokens,
 * levels, aliases, directives and validation errors, the length of names, and introspection.
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
      addValidationRule(requireShortNames);
      addValidationRule(limitIntrospection);
      setValidationFn(limitValidationErrors(validateFn as ValidateFn) as typeof validateFn);
    },
  };
};

type Rules = readonly [rules?: readonly unknown[], options?: { readonly maxErrors: number }];
type ValidateFn = (schema: unknown, document: unknown, ...given: Rules) => unknown;

/**
 * Limits the number of validation errors in an answer, because each is sent with a complete error body. The
 * limit equals the maximum number of details in an error of the REST API.
 */
const limitValidationErrors =
  (validate: ValidateFn): ValidateFn =>
  (schema, document, ...[rules]) =>
    validate(schema, document, rules, { maxErrors: validationErrorsMax });

const nameLengthMax = 200;

/**
 * Refuses documents with names of more than 200 characters. For an unknown name, graphql-js compares the name
 * with all known names, which is slow for long names, and repeats it in the error message.
 */
const requireShortNames = (): ASTVisitor => ({
  Document(document) {
    visit(document, {
      Name(node) {
        if (node.value.length > nameLengthMax)
          throw new GraphQLError(`Syntax Error: A name must have at most ${nameLengthMax} characters.`);
      },
    });
  },
});

const introspectedTypesMax = 10;

/**
 * Refuses aliases that select the same introspection field several times, because introspection costs no
 * points, and each alias would return the whole schema again. `__type` may have several aliases, one for each
 * type that it reads.
 */
function limitIntrospection(context: ValidationContext): ASTVisitor {
  let introspectedTypes = 0;
  const names = new Map<string, string>();
  return {
    Field(node) {
      const { value: field } = node.name;
      if (field === "__type" && ++introspectedTypes === introspectedTypesMax + 1)
        context.reportError(
          new GraphQLError(`A query must select at most ${introspectedTypesMax} types with __type.`, {
            nodes: node,
          }),
        );
      const owner = context.getParentType()?.name ?? "";
      if (field !== "__schema" && !owner.startsWith("__")) return;
      const name = node.alias?.value ?? field;
      const known = names.get(`${owner}.${field}`);
      if (known === undefined) names.set(`${owner}.${field}`, name);
      else if (name !== known)
        context.reportError(
          new GraphQLError(
            "An introspection query must select each field under only one name, except __type.",
            {
              nodes: node,
            },
          ),
        );
    },
  };
}
