/**
 * Checks the numbers of units that the merchant reports for each line of a return, on receipt and on
 * inspection of the goods.
 */
import type { OrderReturn, ReturnLine } from "#commerce/orders/order-aggregate.ts";
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  getDuplicateEntryErrors,
} from "#foundation/faults.ts";

/**
 * A return line with the units that the merchant counted when the goods were received or inspected. The
 * merchant must report every line of the return exactly once. A count is at most the requested units (on
 * receipt) or the received units (on inspection).
 */
export interface CountedReturnLine {
  readonly lineId: string;
}

/**
 * For each count of a return line (for example received units), a function that returns the highest allowed
 * value. The limit depends on the return line and on the other counts that the merchant reports for the
 * line.
 */
type CountBounds<Count extends CountedReturnLine> = Readonly<
  Partial<Record<Exclude<keyof Count, "lineId">, (line: ReturnLine, count: Count) => number>>
>;

/**
 * Returns the faults in the unit counts that the merchant reports for a return. Every line of the return must
 * occur once, and each count must be from 0 to its maximum.
 */
export function findReturnedUnitCountFaults<Count extends CountedReturnLine>(
  { lines }: Pick<OrderReturn, "lines">,
  counts: readonly Count[],
  bounds: CountBounds<Count>,
): InputFieldErrors {
  const ids = counts.map(({ lineId }) => lineId);
  const missing = lines.filter(({ lineId }) => !ids.includes(lineId)).map(({ lineId }) => lineId);
  return [
    ...getDuplicateEntryErrors(ids, (index) => `/lines/${index}/lineId`),
    ...counts.flatMap((count, index) => lineCountFaults(lines, { count, index, bounds })),
    ...(missing.length === 0
      ? []
      : [
          {
            ...createRequestBodyErrorDetail(
              "/lines",
              "required",
              '"lines" must contain every line of the return.',
            ),
            allowed: missing,
          },
        ]),
  ];
}

function lineCountFaults<Count extends CountedReturnLine>(
  lines: readonly ReturnLine[],
  {
    count,
    index,
    bounds,
  }: { readonly count: Count; readonly index: number; readonly bounds: CountBounds<Count> },
): InputFieldErrors {
  const line = lines.find(({ lineId }) => lineId === count.lineId);
  if (line === undefined)
    return [
      createRequestBodyErrorDetail(
        `/lines/${index}/lineId`,
        "unknown",
        '"lineId" is not a line of this return.',
      ),
    ];
  return (Object.keys(bounds) as Exclude<keyof Count & string, "lineId">[]).flatMap((name) => {
    const max = bounds[name]?.(line, count) ?? 0;
    return getIntegerFieldErrors(`/lines/${index}/${name}`, count[name] as number, {
      min: 0,
      max: Math.max(0, max),
    });
  });
}
