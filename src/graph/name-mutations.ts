/** Tells every mutation what it is called and with what, so that what it does can be written down without it having to say so. */
import type { GraphQLResolveInfo, GraphQLSchema } from "graphql";
import type { GraphContext } from "./context.ts";

export function nameMutations(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { name, resolve } = field;
    if (resolve === undefined) throw new Error(`The mutation ${name} does nothing.`);
    field.resolve = (root: unknown, args: Readonly<Record<string, unknown>>, ...[context, info]: [GraphContext, GraphQLResolveInfo]) =>
      resolve(root, args, { ...context, mutation: { name, args } } satisfies GraphContext, info);
  }
  return schema;
}
