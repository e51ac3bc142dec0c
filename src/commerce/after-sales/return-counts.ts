/** What was counted of a return when it came: every line of it, none twice, and never more of one thing than there was of the one before. */
import { faultAt, type Faults, integerFaults, repeatFaults } from "#foundation/faults.ts";
import type { OrderReturn, ReturnLine } from "#commerce/orders/order-aggregate.ts";

export interface LineCount {
  readonly lineId: string;
}

/** Each counted figure with the most it may be, by the return's line and what else was counted of it. */
export type CountBounds<Count extends LineCount> = Readonly<
  Partial<Record<Exclude<keyof Count, "lineId">, (line: ReturnLine, count: Count) => number>>
>;

export function countedFaults<Count extends LineCount>(
  { lines }: Pick<OrderReturn, "lines">,
  counts: readonly Count[],
  bounds: CountBounds<Count>,
): Faults {
  const ids = counts.map(({ lineId }) => lineId);
  const missing = lines.filter(({ lineId }) => !ids.includes(lineId)).map(({ lineId }) => lineId);
  return [
    ...repeatFaults(ids, (index) => `/lines/${index}/lineId`),
    ...counts.flatMap((count, index) => lineFaults(lines, { count, index, bounds })),
    ...(missing.length === 0 ? [] : [{ ...faultAt("/lines", "required", "Every line of the return must be named."), allowed: missing }]),
  ];
}

function lineFaults<Count extends LineCount>(
  lines: readonly ReturnLine[],
  { count, index, bounds }: { readonly count: Count; readonly index: number; readonly bounds: CountBounds<Count> },
): Faults {
  const line = lines.find(({ lineId }) => lineId === count.lineId);
  if (line === undefined) return [faultAt(`/lines/${index}/lineId`, "unknown", "The return has no such line.")];
  return (Object.keys(bounds) as Exclude<keyof Count & string, "lineId">[]).flatMap((name) => {
    const max = bounds[name]?.(line, count) ?? 0;
    return integerFaults(`/lines/${index}/${name}`, count[name] as number, { min: 0, max: Math.max(0, max) });
  });
}
