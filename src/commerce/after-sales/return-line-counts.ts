/** Checks the unit counts of a return's lines that the merchant reports on receipt and inspection. */
import type { OrderReturn, ReturnLine } from "#commerce/orders/order-aggregate.ts";
import { createBodyFault, type Faults, findIntegerFaults, findDuplicateFaults } from "#foundation/faults.ts";

/**
 * Numbers of units of one return line, as the merchant counts them on receipt or inspection. The merchant
 * reports every line once, and cannot report more units than were requested (on receipt) or received (on
 * inspection).
 */
export interface ReturnLineCount {
  readonly lineId: string;
}

/**
 * Functions that return the maximum of each reported number of units, from the return line and the other
 * numbers of this line.
 */
type CountBounds<Count extends ReturnLineCount> = Readonly<
  Partial<Record<Exclude<keyof Count, "lineId">, (line: ReturnLine, count: Count) => number>>
>;

/** Checks the counts of a return's lines: every line once, each count from 0 to its maximum. */
export function findReturnLineCountFaults<Count extends ReturnLineCount>(
  { lines }: Pick<OrderReturn, "lines">,
  counts: readonly Count[],
  bounds: CountBounds<Count>,
): Faults {
  const ids = counts.map(({ lineId }) => lineId);
  const missing = lines.filter(({ lineId }) => !ids.includes(lineId)).map(({ lineId }) => lineId);
  return [
    ...findDuplicateFaults(ids, (index) => `/lines/${index}/lineId`),
    ...counts.flatMap((count, index) => lineCountFaults(lines, { count, index, bounds })),
    ...(missing.length === 0
      ? []
      : [
          {
            ...createBodyFault("/lines", "required", '"lines" must contain every line of the return.'),
            allowed: missing,
          },
        ]),
  ];
}

function lineCountFaults<Count extends ReturnLineCount>(
  lines: readonly ReturnLine[],
  {
    count,
    index,
    bounds,
  }: { readonly count: Count; readonly index: number; readonly bounds: CountBounds<Count> },
): Faults {
  const line = lines.find(({ lineId }) => lineId === count.lineId);
  if (line === undefined)
    return [createBodyFault(`/lines/${index}/lineId`, "unknown", '"lineId" is not a line of this return.')];
  return (Object.keys(bounds) as Exclude<keyof Count & string, "lineId">[]).flatMap((name) => {
    const max = bounds[name]?.(line, count) ?? 0;
    return findIntegerFaults(`/lines/${index}/${name}`, count[name] as number, {
      min: 0,
      max: Math.max(0, max),
    });
  });
}
