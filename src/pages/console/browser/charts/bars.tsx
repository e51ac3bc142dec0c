/** Numbers over time as bars that stand on each other. */
import type { JSX } from "preact";
import { Figure } from "./figure.tsx";
import { plotHeight, type Series, ticksOf } from "./scale.ts";

interface BarsProps {
  readonly title: string;
  readonly description: string;
  readonly labels: readonly string[];
  /** What each step is known by: in the hour that comes twice as the clocks change, two have the same label. */
  readonly keys: readonly string[];
  readonly series: readonly Series<number>[];
}

const whole = (value: number): string => value.toLocaleString("en");

export function Bars({ labels, keys, series, ...named }: BarsProps): JSX.Element {
  const sums = labels.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const ticks = ticksOf(Math.max(...sums));
  const scale = plotHeight / (ticks.at(-1) ?? 1);
  const draw = (width: number): JSX.Element[] => {
    const step = width / labels.length;
    const gap = Math.min(4, step / 4);
    return labels.map((label, index) => {
      let top = plotHeight;
      return (
        <g key={keys[index]}>
          <title>{`${label}: ${series.map(({ name, values }) => `${name} ${whole(values[index] ?? 0)}`).join(", ")}`}</title>
          <rect class="hover" x={index * step} y={0} width={step} height={plotHeight} />
          {series.map(({ name, tone, values }) => {
            const size = (values[index] ?? 0) * scale;
            top -= size;
            return <rect key={name} class={tone} x={index * step + gap / 2} y={top} width={step - gap} height={size} />;
          })}
        </g>
      );
    });
  };
  return <Figure {...named} labels={labels} keys={keys} series={series} ticks={ticks} format={whole} cell={whole} draw={draw} />;
}
