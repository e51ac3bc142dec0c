/** What stands around a chart: its title, what it says in words, its colours, and its numbers as a table. */
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { edge, height, labelled, plotHeight, type Series, useWidth } from "./scale.ts";

interface FigureProps<Value> {
  readonly title: string;
  readonly description: string;
  readonly labels: readonly string[];
  readonly keys: readonly string[];
  readonly series: readonly Series<Value>[];
  readonly ticks: readonly number[];
  readonly format: (value: number) => string;
  readonly cell: (value: Value) => string;
  /** What is drawn on a ground of this width. */
  readonly draw: (plotWidth: number) => ComponentChildren;
}

export function Figure<Value>(props: FigureProps<Value>): JSX.Element {
  const { title, description, labels, keys, series } = props;
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
            <g transform={`translate(${edge.left} ${edge.top})`}>{props.draw(width - edge.left - edge.right)}</g>
          </svg>
        )}
      </div>
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
                      {values[index] === undefined ? "" : props.cell(values[index])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
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
          x={edge.left + (plotWidth * (index + (index === 0 ? 0 : index === labels.length - 1 ? 1 : 0.5))) / labels.length}
          y={height - 6}
          text-anchor={index === 0 ? "start" : index === labels.length - 1 ? "end" : "middle"}
        >
          {labels[index]}
        </text>
      ))}
    </g>
  );
}
