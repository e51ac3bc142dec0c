/**
 * The picture of one type. The type with its fields or values is in the middle. On the left are the types
 * that refer to it, on the right the types to which it refers.
 */
import type { JSX } from "preact";
import { getTypeMapTypeUrl } from "./address.ts";
import { isPaginationType, type GraphqlTypeMapEntry, type TypeMap } from "./type-map.ts";

interface Box {
  readonly name: string;
  readonly note: string;
  readonly y: number;
}

const row = 26;
const head = 44;
const gap = 10;
const top = 4;
/**
 * The estimated width of one character in pixels: one value for field names, which have a monospaced font,
 * and one for type names.
 */
const widthOf = { name: 8, type: 7.4 } as const;
const boxHeight = 44;
const columns = {
  left: { x: 4, width: 240 },
  middle: { x: 330, width: 370 },
  right: { x: 792, width: 244 },
} as const;
const width = 1040;
/**
 * The maximum number of types on the left side of the picture. The list below the picture contains all types
 * that refer to the type.
 */
const boxesMax = 40;

interface Shown {
  readonly map: TypeMap;
  readonly type: GraphqlTypeMapEntry;
}

export function GraphqlTypeDiagram({ map, type }: Shown): JSX.Element {
  const all = namesIn(map, type);
  const from = stacked(all.slice(0, boxesMax));
  const hidden = all.length - from.length;
  const to = stacked(namesOut(map, type));
  const middle = head + type.parts.length * row + 8;
  const height = Math.max(heightOf(from) + (hidden > 0 ? row : 0), heightOf(to), middle) + 2 * top;
  return (
    <svg
      class="picture type-picture"
      viewBox={`0 0 ${width} ${height}`}
      role="group"
      aria-label={`${type.name}: types that refer to it, and types that it refers to`}
    >
      {from.map((box) => (
        <Line
          key={box.name}
          start={[end(columns.left), top + box.y + boxHeight / 2]}
          end={[columns.middle.x, top + head / 2]}
        />
      ))}
      {type.parts.map((part, index) => {
        const box = to.find(({ name }) => name === part.leadsTo);
        const y = top + head + index * row + row / 2;
        return box === undefined ? null : (
          <Line
            key={part.name}
            start={[end(columns.middle), y]}
            end={[columns.right.x, top + box.y + boxHeight / 2]}
          />
        );
      })}
      {from.map((box) => (
        <TypeBox key={box.name} box={box} column={columns.left} />
      ))}
      {hidden > 0 ? (
        <text class="box-note" x={columns.left.x} y={top + heightOf(from) + 20}>
          and {hidden} more, listed below
        </text>
      ) : null}
      <Middle type={type} height={middle} />
      {to.map((box) => (
        <TypeBox key={box.name} box={box} column={columns.right} />
      ))}
    </svg>
  );
}

const end = ({ x, width: wide }: { readonly x: number; readonly width: number }): number => x + wide;
const heightOf = (boxes: readonly Box[]): number => boxes.length * (boxHeight + gap) - gap;
const stacked = (boxes: readonly Omit<Box, "y">[]): readonly Box[] =>
  boxes.map(({ name, note }, index) => ({ name, note, y: index * (boxHeight + gap) }));

function namesIn(map: TypeMap, { name, references }: GraphqlTypeMapEntry): readonly Omit<Box, "y">[] {
  const grouped = Map.groupBy(
    references.filter(({ from }) => from !== name && !isPaginationType({ name: from })),
    ({ from }) => from,
  );
  const boxes = [...grouped].map(([from, held]) => ({
    name: from,
    note: cut(held.map(({ part }) => part).join(", "), 30),
  }));
  return boxes.filter((box) => map.has(box.name));
}

/**
 * Returns the types on the right side of the picture, to which the type refers. Scalars are left out, because
 * the list below the picture names them.
 */
function namesOut(map: TypeMap, { name, parts }: GraphqlTypeMapEntry): readonly Omit<Box, "y">[] {
  const targets = new Set(
    parts.flatMap(({ leadsTo }) => (leadsTo === null || leadsTo === name ? [] : [leadsTo])),
  );
  const types = [...targets]
    .flatMap((target) => map.get(target) ?? [])
    .filter(({ kind }) => kind !== "scalar");
  return types.map((type) => ({ name: type.name, note: `${type.kind}, ${type.area}` }));
}

function TypeBox({
  box,
  column,
}: {
  readonly box: Box;
  readonly column: { readonly x: number; readonly width: number };
}): JSX.Element {
  const y = top + box.y;
  return (
    <a href={getTypeMapTypeUrl(box.name)}>
      <rect class="box" x={column.x} y={y} width={column.width} height={boxHeight} rx="8" />
      <text class="box-name" x={column.x + 12} y={y + 19}>
        {cut(box.name, 28)}
      </text>
      <text class="box-note" x={column.x + 12} y={y + 36}>
        {box.note}
      </text>
    </a>
  );
}

function Middle({
  type,
  height,
}: {
  readonly type: GraphqlTypeMapEntry;
  readonly height: number;
}): JSX.Element {
  const { x, width: wide } = columns.middle;
  return (
    <g>
      <rect class="box chosen" x={x} y={top} width={wide} height={height} rx="8" />
      <text class="box-name" x={x + 14} y={top + 20}>
        {cut(type.name, 34)}
      </text>
      <text class="box-note" x={x + 14} y={top + 36}>
        {type.kind}
      </text>
      {type.parts.map((part, index) => (
        <g key={part.name}>
          <text class="row-name" x={x + 14} y={top + head + index * row + 17}>
            {cut(part.name, 30)}
          </text>
          <text class="box-note" x={x + wide - 12} y={top + head + index * row + 17} text-anchor="end">
            {cut(part.type ?? "", (wide - 36 - Math.min(part.name.length, 30) * widthOf.name) / widthOf.type)}
          </text>
        </g>
      ))}
    </g>
  );
}

function Line({
  start,
  end: [x2, y2],
}: {
  readonly start: readonly [number, number];
  readonly end: readonly [number, number];
}): JSX.Element {
  const [x1, y1] = start;
  const half = (x1 + x2) / 2;
  return <path class="tie" stroke-width="1.5" d={`M${x1},${y1} C${half},${y1} ${half},${y2} ${x2},${y2}`} />;
}

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, Math.floor(length) - 1)}…` : text;
