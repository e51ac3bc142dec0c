/**
 * If a mutation fails because an object does not exist, and the error does not say which argument named this
 * object, adds the name of that argument to the error.
 */
import { createInvalidFieldFailure } from "#foundation/faults.ts";
import { Failure, failureKinds } from "#foundation/failure.ts";

interface MutationIds {
  /** The names of the mutation's id arguments, which say which object the mutation changes. */
  readonly ids: Readonly<Record<string, unknown>>;
  readonly input: object;
}

/**
 * Adds the name of an argument to a `resource_not_found` error of a mutation, if the error names no field:
 * the name of the only id argument that the client sent. Returns the error unchanged if it is another error,
 * or if the client sent no id argument or more than one.
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
