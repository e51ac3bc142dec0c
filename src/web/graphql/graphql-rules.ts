/** Each of GraphQL's rules once: Mesh and Yoga both bring all of them, and what breaks one would be told twice. */
import type { Plugin } from "graphql-yoga";
import type { GraphContext } from "#graph/context.ts";

type Given = readonly [rules?: readonly unknown[], ...rest: unknown[]];
type ValidateFn = (schema: unknown, document: unknown, ...given: Given) => unknown;

/** Stands after the plugins that add rules. */
export function checkOnce(): Plugin<GraphContext> {
  return {
    onValidate({ validateFn, setValidationFn }) {
      const validate = validateFn as ValidateFn;
      const checked: ValidateFn = (schema, document, ...[rules, ...rest]) => validate(schema, document, rules && [...new Set(rules)], ...rest);
      setValidationFn(checked as typeof validateFn);
    },
  };
}
