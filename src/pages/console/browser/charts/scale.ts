/** What all charts share: their measures and the round numbers at their side. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

export interface Series<Value> {
  readonly name: string;
  readonly tone: "good" | "fault" | "mark" | "warn";
  readonly values: readonly Value[];
}

export const height = 180;
export const edge = { left: 60, right: 8, top: 10, bottom: 26 } as const;
export const plotHeight = height - edge.top - edge.bottom;

/** The chart is drawn as wide as its place is, so that its text is never smaller than other text. */
export function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    if (place.current !== null) observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return [place, width];
}

/** From 0 to a round number that nothing exceeds: three or four steps. */
export function ticksOf(most: number): readonly number[] {
  const rough = Math.max(most, 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10));
  return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, index) => index * step);
}

/** The first, the middle and the last; the middle one where there is room. */
export const labelled = (length: number, width: number): readonly number[] =>
  length < 3 ? [0] : width < 420 ? [0, length - 1] : [0, Math.floor(length / 2), length - 1];
