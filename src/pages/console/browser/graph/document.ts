/** The text of an operation, which knows what it is asked with and what it answers. Whoever writes one says both beside it. */

declare const shape: unique symbol;

export type Document<Result, Variables extends object = Record<string, never>> = string & {
  readonly [shape]: (variables: Variables) => Result;
};

export const graph = <Result, Variables extends object = Record<string, never>>(text: string): Document<Result, Variables> =>
  text as Document<Result, Variables>;
