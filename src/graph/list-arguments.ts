/** GraphQL arguments that many lists share: the merchant, and a period of time. */
import { createFailureWithDetail } from "#foundation/failure.ts";
import { builder } from "./builder.ts";

/** The argument `merchantId` of lists. A caller of the platform selects the rows of a single merchant with it. */
export const listMerchantArgs = builder.args((t) => ({
  merchantId: t.id({
    description:
      "The id of the merchant. If left out, a token of the platform gets the entries of all merchants.",
  }),
}));

/** The arguments that select the entries of a list by the time at which they were created. */
export const createdPeriodArgs = builder.args((t) => ({
  createdFrom: t.field({
    type: "DateTime",
    description: "Lists only entries that were created at this time or later.",
  }),
  createdTo: t.field({
    type: "DateTime",
    description: "Lists only entries that were created before this time, which must be after `createdFrom`.",
  }),
}));

type Period<Name extends string> = Readonly<
  Partial<Record<`${Name}From` | `${Name}To`, Date | null | undefined>>
>;

/**
 * Refuses a period whose end is before its start. `name` is the common prefix of the two argument names, for
 * example `created` for `createdFrom` and `createdTo`.
 */
export function requirePeriodStartBeforeEnd<Name extends string>(name: Name, args: Period<Name>): void {
  const from = args[`${name}From`];
  const to = args[`${name}To`];
  if (!(from instanceof Date) || !(to instanceof Date) || from < to) return;
  throw createFailureWithDetail("invalid_field", {
    in: "body",
    field: `/${name}To`,
    code: "too_small",
    message: `"${name}To" must be after "${name}From".`,
  });
}
