/** Measures over time as lines, which break off where nothing was measured. */
import type { JSX } from "preact";
import { Figure } from "./figure.tsx";
import { plotHeight, type Series, ticksOf } from "./scale.ts";

interface LinesProps {
  readonly title: string;
  readonly description: string;
  readonly labels: readonly string[];
  readonly keys: readonly string[];
  readonly series: readonly Series<number | null>[];
  readonly format: (value: number) => string;
}

export function Lines({ labels, keys, series, format, ...named }: LinesProps): JSX.Element {
  const ticks = ticksOf(Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const scale = plotHeight / (ticks.at(-1) ?? 1);
  const draw = (width: number): JSX.Element[] => {
    const step = width / labels.length;
    const place = (index: number, value: number): string => `${(index + 0.5) * step} ${plotHeight - value * scale}`;
    return series.map(({ name, tone, values }) => (
      <g key={name} class={tone}>
        <path class="line" d={pathOf(values, place)} />
        {values.map((value, index) =>
          value === null ? null : (
            <circle key={keys[index]} cx={(index + 0.5) * step} cy={plotHeight - value * scale} r={3}>
              <title>{`${labels[index] ?? ""}: ${name} ${format(value)}`}</title>
            </circle>
          ),
        )}
      </g>
    ));
  };
  const cell = (value: number | null): string => (value === null ? "–" : format(value));
  return <Figure {...named} labels={labels} keys={keys} series={series} ticks={ticks} format={format} cell={cell} draw={draw} />;
}

function pathOf(values: readonly (number | null)[], place: (index: number, value: number) => string): string {
  let isOpen = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isOpen = false;
        return "";
      }
      const step = `${isOpen ? "L" : "M"}${place(index, value)}`;
      isOpen = true;
      return step;
    })
    .join("");
}
