/**
 * Bar charts and line charts over time. Each chart has a title, a description, a legend, axes, and a table
 * with its numbers.
 */
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

interface FigureProps<Value> {
  readonly title: string;
  readonly description: string;
  readonly labels: readonly string[];
  readonly keys: readonly string[];
  readonly series: readonly Series<Value>[];
  readonly ticks: readonly number[];
  readonly format: (value: number) => string;
  readonly cell: (value: Value) => string;
  /** The function that draws the chart. Its argument is the width of the drawing area in pixels. */
  readonly draw: (plotWidth: number) => ComponentChildren;
}

function Figure<Value>(props: FigureProps<Value>): JSX.Element {
  const { title, description, series } = props;
  const [place, width] = useWidth();
  const id = useId();
  return (
    <figure class="card">
      <figcaption>
        <strong>{title}</strong>
        <ul class="legend">
          {series.map(({ name, tone }) => (
            <li key={name} class={tone}>
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
      <p class="soft small">{description}</p>
      <div ref={place} class="plot">
        {width === 0 ? null : (
          <svg width={width} height={height} role="img" aria-labelledby={`${id}-title ${id}-description`}>
            <title id={`${id}-title`}>{title}</title>
            <desc id={`${id}-description`}>{description}</desc>
            <Axes {...props} width={width} />
            <g transform={`translate(${edge.left} ${edge.top})`}>
              {props.draw(width - edge.left - edge.right)}
            </g>
          </svg>
        )}
      </div>
      <NumbersTable {...props} />
    </figure>
  );
}

/** The values of a chart as a table that the reader can open. */
function NumbersTable<Value>({ title, labels, keys, series, cell }: FigureProps<Value>): JSX.Element {
  return (
    <details>
      <summary>As a table</summary>
      <div class="numbers" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
        <table>
          <caption class="hidden">{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ name }) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((label, index) => (
              <tr key={keys[index]}>
                <th scope="row">{label}</th>
                {series.map(({ name, values }) => (
                  <td key={name} class="number">
                    {values[index] === undefined ? "" : cell(values[index])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

type AxesProps = Pick<FigureProps<never>, "labels" | "ticks" | "format"> & { readonly width: number };

function Axes({ labels, ticks, format, width }: AxesProps): JSX.Element {
  const most = ticks.at(-1) ?? 1;
  const plotWidth = width - edge.left - edge.right;
  const shown = labelled(labels.length, width);
  return (
    <g aria-hidden="true">
      {ticks.map((tick) => {
        const y = edge.top + plotHeight * (1 - tick / most);
        return (
          <g key={tick}>
            <line class="grid" x1={edge.left} x2={width - edge.right} y1={y} y2={y} />
            <text x={edge.left - 8} y={y + 4} text-anchor="end">
              {format(tick)}
            </text>
          </g>
        );
      })}
      {shown.map((index) => (
        <text
          key={index}
          x={
            edge.left +
            (plotWidth * (index + (index === 0 ? 0 : index === labels.length - 1 ? 1 : 0.5))) / labels.length
          }
          y={height - 6}
          text-anchor={index === 0 ? "start" : index === labels.length - 1 ? "end" : "middle"}
        >
          {labels[index]}
        </text>
      ))}
    </g>
  );
}

/** The data of a chart: the names of its series and their values over time. */
interface Series<Value> {
  readonly name: string;
  readonly tone: "good" | "fault" | "mark" | "warn";
  readonly values: readonly Value[];
}

const height = 180;
const edge = { left: 60, right: 8, top: 10, bottom: 26 } as const;
const plotHeight = height - edge.top - edge.bottom;

/**
 * Returns the width in pixels of the chart's container. Drawing the chart at this width keeps its text at the
 * normal size.
 */
function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    if (place.current !== null) observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return [place, width];
}

/**
 * Returns the labelled numbers of a chart's axis: equal steps from 0 to a round number that is at least
 * `most`.
 */
function ticksOf(most: number): readonly number[] {
  const rough = Math.max(most, 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10));
  return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, index) => index * step);
}

/**
 * Returns the indexes of the labelled points on the time axis: the first and the last, and the middle one in
 * a wide chart. A chart with fewer than three points has only one label.
 */
const labelled = (length: number, width: number): readonly number[] =>
  length < 3 ? [0] : width < 420 ? [0, length - 1] : [0, Math.floor(length / 2), length - 1];

/** A bar chart of numbers over time, with stacked bars. */
interface BarsProps {
  readonly title: string;
  readonly description: string;
  readonly labels: readonly string[];
  /**
   * A unique key for each bar. A label can occur twice, because one hour occurs twice when daylight saving
   * time ends.
   */
  readonly keys: readonly string[];
  readonly series: readonly Series<number>[];
}

const whole = (value: number): string => value.toLocaleString("en");

export function BarChart({ labels, keys, series, ...named }: BarsProps): JSX.Element {
  const sums = labels.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const ticks = ticksOf(Math.max(...sums));
  const scale = plotHeight / (ticks.at(-1) ?? 1);
  const draw = (width: number): JSX.Element[] => {
    const step = width / labels.length;
    const gap = Math.min(4, step / 4);
    return labels.map((label, index) => {
      let top = plotHeight;
      const amounts = series.map(({ name, values }) => `${name} ${whole(values[index] ?? 0)}`);
      return (
        <g key={keys[index]}>
          <title>{`${label}: ${amounts.join(", ")}`}</title>
          <rect class="hover" x={index * step} y={0} width={step} height={plotHeight} />
          {series.map(({ name, tone, values }) => {
            const size = (values[index] ?? 0) * scale;
            top -= size;
            return (
              <rect
                key={name}
                class={tone}
                x={index * step + gap / 2}
                y={top}
                width={step - gap}
                height={size}
              />
            );
          })}
        </g>
      );
    });
  };
  return (
    <Figure
      {...named}
      labels={labels}
      keys={keys}
      series={series}
      ticks={ticks}
      format={whole}
      cell={whole}
      draw={draw}
    />
  );
}

/** A line chart of values over time. A line has a gap where a value is missing. */
interface LinesProps {
  readonly title: string;
  readonly description: string;
  readonly labels: readonly string[];
  readonly keys: readonly string[];
  readonly series: readonly Series<number | null>[];
  readonly format: (value: number) => string;
}

export function LineChart({ labels, keys, series, format, ...named }: LinesProps): JSX.Element {
  const ticks = ticksOf(Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const scale = plotHeight / (ticks.at(-1) ?? 1);
  const draw = (width: number): JSX.Element[] => {
    const step = width / labels.length;
    const place = (index: number, value: number): string =>
      `${(index + 0.5) * step} ${plotHeight - value * scale}`;
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
  return (
    <Figure
      {...named}
      labels={labels}
      keys={keys}
      series={series}
      ticks={ticks}
      format={format}
      cell={cell}
      draw={draw}
    />
  );
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
