/**
 * Explains a 404 whose cause is the form of the id: an id of another kind of object, or a text that is no id.
 * Only the text of the id is considered, so the explanation does not reveal whether an object exists.
 */
import { createFailure, Failure, type FailureCode, type FailureDetail } from "#foundation/failure.ts";
import {
  getObjectKindOfId,
  type IdKind,
  idPrefixes,
  isIdOfKind,
  formatObjectKindWithArticle,
} from "#foundation/ids.ts";
import type { RestRequestContext } from "./rest-call.ts";

/** The kind of object whose id the request must contain, by the failure code of the 404 answer. */
const idKindsByCode: Readonly<Partial<Record<FailureCode, IdKind>>> = {
  cart_not_found: "cart",
  order_not_found: "order",
  checkout_session_not_found: "checkoutSession",
  webhook_endpoint_not_found: "webhookEndpoint",
  webhook_delivery_not_found: "webhookDelivery",
};

/** The path parameter that must contain a slug and not an id, by the failure code of the 404 answer. */
const slugParametersByCode: Readonly<Partial<Record<FailureCode, string>>> = {
  merchant_not_found: "merchantSlug",
  product_not_found: "productSlug",
};

/**
 * Adds an explanation to a 404 error if the id or slug in the request has the wrong form; returns a changed
 * copy of the error. Every other error is returned unchanged.
 */
export function addWrongIdExplanationToNotFoundError(error: unknown, call: RestRequestContext): unknown {
  if (!(error instanceof Failure) || error.status !== 404 || error.parts.details !== undefined) return error;
  const detail = explainSlug(error.code, call) ?? explainId(error.code, call);
  return detail === undefined
    ? error
    : createFailure(error.code, { ...error.parts, message: detail.message, details: [detail] });
}

function explainSlug(code: FailureCode, { variables }: RestRequestContext): FailureDetail | undefined {
  const field = slugParametersByCode[code];
  const value = field === undefined ? undefined : variables[field];
  const kind = typeof value === "string" ? getObjectKindOfId(value) : undefined;
  if (field === undefined || kind === undefined) return undefined;
  const message =
    `${field} must be a slug, such as trail-running-shoe, ` +
    `but it is the id of ${formatObjectKindWithArticle(kind)}.`;
  return { in: "path", field, code: "id_not_allowed", message };
}

function explainId(code: FailureCode, call: RestRequestContext): FailureDetail | undefined {
  const expected = idKindsByCode[code];
  const named = findNamedId(code, call);
  if (expected === undefined || named === undefined || isIdOfKind(expected, named.value)) return undefined;
  const subject = named.field.replace(/^\//, "");
  const given = getObjectKindOfId(named.value);
  const prefix = `${idPrefixes[expected]}_`;
  const [rule, message] =
    given === undefined
      ? [
          "invalid_format",
          `${subject} does not have the form of an id: the id of ${formatObjectKindWithArticle(expected)} is ${prefix} and ` +
            "26 lower-case letters and digits.",
        ]
      : [
          "wrong_kind",
          `${subject} is the id of ${formatObjectKindWithArticle(given)} (${idPrefixes[given]}_…), but the operation needs the ` +
            `id of ${formatObjectKindWithArticle(expected)} (${prefix}…).`,
        ];
  return { in: named.in, field: named.field, code: rule, message };
}

interface NamedId {
  readonly in: "path" | "body";
  readonly field: string;
  readonly value: string;
}

/**
 * Returns the id that was not found, with the name of the field that contained it. For the operation's own
 * object, this is the first path parameter; for another object, it is a field of the body.
 */
function findNamedId(code: FailureCode, { operation, variables }: RestRequestContext): NamedId | undefined {
  if (code === operation.notFound) {
    const parameter = operation.parameters.find((one) => one.in === "path");
    const value = variables[parameter?.name ?? ""];
    return parameter === undefined || typeof value !== "string"
      ? undefined
      : { in: "path", field: parameter.name, value };
  }
  const { body } = variables;
  const value: unknown =
    typeof body === "object" && body !== null && "endpointId" in body ? body.endpointId : undefined;
  return typeof value === "string" ? { in: "body", field: "/endpointId", value } : undefined;
}
