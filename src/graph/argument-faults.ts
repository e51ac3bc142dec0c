/**
 * Reports all invalid arguments of a GraphQL field in one failure. The validation plugin of Pothos stops at
 * the first fault of an input, and reports it with a message of the library zod. The plugin of this file then
 * checks every argument again. It describes each fault with the argument's path and the whole rule.
 */
import SchemaBuilder, {
  BasePlugin,
  type BuildCache,
  type InputFieldsMapping,
  mapInputFields,
  type PothosInputFieldConfig,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  unwrapInputFieldType,
} from "@pothos/core";
import { z } from "zod";
import { createFailure, type FailureDetail } from "#foundation/failure.ts";
import { describeBrokenArgumentRule, getBrokenArgumentRuleCode } from "./argument-rules.ts";

declare global {
  // eslint-disable-next-line typescript/no-namespace -- Pothos declares its plugins in this namespace.
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      argumentFaults: ArgumentFaultsPlugin<Types>;
    }
  }
}

/**
 * The error with which Pothos's validation plugin refuses arguments. Clients never receive this error,
 * because the plugin of this file replaces it by a failure.
 */
export class InvalidArgumentsError extends Error {}

class ArgumentFaultsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { buildCache } = this;
    const rules = mapInputFields(config.args, buildCache, (input) => rulesOf(input, buildCache));
    if (rules === null) return config;
    return {
      ...config,
      argMappers: config.argMappers.map((check) => (args, context, info) => {
        try {
          return check(args, context, info);
        } catch (error) {
          if (!(error instanceof InvalidArgumentsError)) throw error;
          const details = findFaults(args, rules, []);
          throw createFailure("invalid_field", {
            details,
            ...(details[0] === undefined ? {} : { message: details[0].message }),
          });
        }
      }),
    };
  }
}

/**
 * The name of the Pothos plugin of this file. The plugin must come before the validation plugin in the
 * builder's list of plugins.
 */
export const argumentFaultsPlugin = "argumentFaults";
// The flag allows registering the plugin a second time, because `mesh build` may evaluate this file twice.
SchemaBuilder.allowPluginReRegistration = true;
SchemaBuilder.registerPlugin(argumentFaultsPlugin, ArgumentFaultsPlugin);
SchemaBuilder.allowPluginReRegistration = false;

/**
 * The zod schemas of one argument or input field: `field` has the schemas of the argument or field itself,
 * `type` those of its input type.
 */
interface InputRules {
  readonly field: readonly z.ZodType[];
  readonly type: readonly z.ZodType[];
}

function rulesOf<Types extends SchemaTypes>(
  input: PothosInputFieldConfig<Types>,
  buildCache: BuildCache<Types>,
): InputRules | null {
  const type = buildCache.getTypeConfig(unwrapInputFieldType(input.type));
  const rules = {
    // Pothos writes the zod schema into the argument's extensions only later, so the schema is read from the
    // option `validate`.
    field: schemasOf(input.extensions).concat(
      input.kind === "Arg" && input.pothosOptions.validate instanceof z.ZodType
        ? input.pothosOptions.validate
        : [],
    ),
    type: type.kind === "InputObject" ? schemasOf(type.extensions) : [],
  };
  return rules.field.length + rules.type.length === 0 ? null : rules;
}

type Values = Readonly<Record<string, unknown>>;

const isValues = (value: unknown): value is Values => typeof value === "object" && value !== null;

/**
 * Returns the zod schemas that Pothos's validation plugin keeps in the extensions of an argument, field or
 * type.
 */
function schemasOf(extensions: Values | null | undefined): z.ZodType[] {
  const validation = extensions?.["@pothos/plugin-validation"];
  const schemas = isValues(validation) ? validation["schemas"] : undefined;
  return Array.isArray(schemas) ? schemas.filter((schema) => schema instanceof z.ZodType) : [];
}

type Path = readonly PropertyKey[];
type Rules<Types extends SchemaTypes> = InputFieldsMapping<Types, InputRules>;

/** Checks the values of all arguments that a client sent and returns the faults. */
const findFaults = <Types extends SchemaTypes>(
  values: Values,
  rules: Rules<Types>,
  path: Path,
): FailureDetail[] =>
  [...rules].flatMap(([name, input]) => {
    const value = values[name];
    const place = path.concat(name);
    if (value === null || value === undefined) return [];
    const own = faultsOf(input.value?.field, value, place);
    if (input.kind !== "InputObject") return own;
    const { map } = input.fields;
    const nested = objectsIn(value, place).flatMap((found) =>
      (map === null ? [] : findFaults(found.values, map, found.path)).concat(
        faultsOf(input.value?.type, found.values, found.path),
      ),
    );
    return own.concat(nested);
  });

/**
 * Returns the input objects in a value, with their paths. The value is an input object or a list of input
 * objects.
 */
function objectsIn(value: unknown, path: Path): { readonly values: Values; readonly path: Path }[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => objectsIn(item, path.concat(index)));
  return isValues(value) ? [{ values: value, path }] : [];
}

const faultsOf = (schemas: readonly z.ZodType[] | undefined, value: unknown, path: Path): FailureDetail[] =>
  (schemas ?? []).flatMap((schema) =>
    (schema.safeParse(value).error?.issues ?? []).map((issue) => {
      const steps = withoutInput(path.concat(issue.path)).map((step) => String(step).slice(0, stepLengthMax));
      return {
        in: "body",
        field: `/${steps.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`,
        code: getBrokenArgumentRuleCode(issue),
        message: `"${writePath(steps)}" ${describeBrokenArgumentRule(schema, issue)}.`,
      };
    }),
  );

/**
 * Maximum length in characters of one name in the path of a fault. Only the keys of metadata can be longer,
 * because clients choose these keys.
 */
const stepLengthMax = 100;

/**
 * Leaves the name of the argument `input` out of a fault's path. GraphQL and REST then report the same path,
 * because the fields of `input` are the fields of the REST operation's body.
 */
const withoutInput = (path: Path): Path => (path[0] === "input" ? path.slice(1) : path);

/** Writes the path of a fault in the notation of GraphQL fields: `filter.attributes[0].code`. */
const writePath = (steps: readonly string[]): string =>
  steps.map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`)).join("");
