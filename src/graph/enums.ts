/** Enumerations: spelled UPPER_SNAKE here, lower_snake in the database and over REST. This one function is the whole of that map. */
import { builder } from "./builder.ts";

interface EnumParts<Value extends string> {
  readonly description: string;
  /** Value as stored → what it means. */
  readonly values: Readonly<Record<Value, string>>;
}

// eslint-disable-next-line typescript/explicit-module-boundary-types -- Pothos infers the ref.
export function defineEnum<Value extends string>(name: string, { description, values }: EnumParts<Value>) {
  const entries = Object.entries<string>(values).map(([value, meaning]) => [value.toUpperCase(), { value: value as Value, description: meaning }]);
  return builder.enumType(name, { description, values: Object.fromEntries(entries) as Record<string, { value: Value; description: string }> });
}
