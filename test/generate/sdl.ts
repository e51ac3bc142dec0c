/** The SDL of a schema with the directives of its fields, which `printSchema` of graphql-js leaves out. */
import { getDirectiveNodes } from "@graphql-tools/utils";
import {
  type GraphQLField,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  print,
  printSchema,
  visit,
} from "graphql";

/** The SDL of a schema. Fields have the directives of their extension `directives`. */
export function printWithDirectives(schema: GraphQLSchema): string {
  const text = printSchema(schema);
  const ends = new Map<number, string>();
  visit(parse(text), {
    enter(node) {
      if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.INTERFACE_TYPE_DEFINITION)
        return node.kind === Kind.DOCUMENT ? undefined : false;
      for (const { name, loc } of node.fields ?? []) {
        const { extensions } = fieldOf(schema, node.name.value, name.value);
        const directives = getDirectiveNodes({ extensions }, schema).map(print);
        if (directives.length > 0) ends.set(loc?.end ?? 0, directives.join(" "));
      }
      return false;
    },
  });
  return [...ends]
    .toSorted(([one], [other]) => other - one)
    .reduce((sdl, [end, added]) => `${sdl.slice(0, end)} ${added}${sdl.slice(end)}`, text);
}

function fieldOf(schema: GraphQLSchema, typeName: string, name: string): GraphQLField<unknown, unknown> {
  const type = schema.getType(typeName);
  const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
  if (field === undefined) throw new Error(`The schema has no field ${typeName}.${name}.`);
  return field;
}
