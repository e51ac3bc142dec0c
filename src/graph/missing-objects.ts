/**
 * Adds the name of an id argument to a mutation's `resource_not_found` error that does not say which argument
 * named the missing object.
 */
import { createInvalidFieldFailure } from "#foundation/faults.ts";
import { Failure, failureKinds } from "#foundation/failure.ts";

interface MutationIds {
  /** The values of the mutation's id arguments, which name the object to change, by argument name. */
  readonly ids: Readonly<Record<string, unknown>>;
  readonly input: object;
}

/**
 * Adds a field name to a mutation's `resource_not_found` error that names no field. The name is that of the
 * id argument that the client sent, or of the id field in `input`. Returns every other error unchanged. Also
 * returns the error unchanged if the client sent several ids or none.
 */
export function addArgumentNameToNotFoundError(error: unknown, { ids, input }: MutationIds): unknown {
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
  return createInvalidFieldFailure("resource_not_found", `/${name}`, {
    code: "unknown",
    message: `"${name}" must be the id of an existing object that the caller may use.`,
  });
}

const listSentNames = (values: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => (typeof value === "string" ? [name] : []));
