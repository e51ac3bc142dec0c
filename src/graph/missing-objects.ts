/** Names the argument of a mutation whose object was not found, in errors that do not name it themselves. */
import { failAtField } from "#foundation/faults.ts";
import { Failure, failureKinds } from "#foundation/failure.ts";

interface MutationIds {
  /** The id arguments of the mutation, which name the object that the mutation changes. */
  readonly ids: Readonly<Record<string, unknown>>;
  readonly input: object;
}

/**
 * Returns the error with the name of the argument if a mutation failed with a general `resource_not_found`
 * and was sent exactly one id. Returns every other error unchanged.
 */
export function nameMissingObject(error: unknown, { ids, input }: MutationIds): unknown {
  const isGeneral =
    error instanceof Failure &&
    error.code === "resource_not_found" &&
    error.parts.details === undefined &&
    error.message === failureKinds.resource_not_found.text;
  if (!isGeneral) return error;
  const targets = listSentNames(ids);
  const inputIds = listSentNames({ ...input }).filter((name) => name.endsWith("Id") && name !== "merchantId");
  const [name, second] = targets.length > 0 ? targets : inputIds;
  if (name === undefined || second !== undefined) return error;
  return failAtField("resource_not_found", `/${name}`, {
    code: "unknown",
    message: `"${name}" must be the id of an existing object that the caller may use.`,
  });
}

const listSentNames = (values: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => (typeof value === "string" ? [name] : []));
