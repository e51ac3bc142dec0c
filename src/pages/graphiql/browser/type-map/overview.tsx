/**
 * The first page of the type map. It shows the areas of the schema (groups of types, for example Orders) in a
 * circle. Lines connect areas whose types refer to each other. The page also has a list of the areas, and a
 * search for types and fields.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { getTypeMapSubjectAreaUrl, navigateToTypeMapUrl, getTypeMapTypeUrl } from "./address.ts";
import { areaNames, isPaginationType, rootTypeNames, nameOfSharedArea, type TypeMap } from "./type-map.ts";

interface AreaNode {
  readonly name: string;
  readonly count: number;
  readonly x: number;
  readonly y: number;
}

interface Tie {
  readonly ends: readonly [string, string];
  readonly count: number;
}

const typesOf = (count: number): string => (count === 1 ? "1 type" : `${count} types`);

const size = { width: 880, height: 560, box: 148, boxHeight: 52 } as const;

export function TypeMapOverview({ map }: { readonly map: TypeMap }): JSX.Element {
  const nodes = nodesOf(map);
  const ties = tiesOf(map);
  return (
    <>
      <p class="soft">
        {typesOf(map.size)}. Choose an area, or start with a root type:{" "}
        <a href={getTypeMapTypeUrl("Query")}>Query</a>, <a href={getTypeMapTypeUrl("Mutation")}>Mutation</a>
        {map.has("Subscription") ? (
          <>
            , <a href={getTypeMapTypeUrl("Subscription")}>Subscription</a>
          </>
        ) : null}
        .
      </p>
      <Picture nodes={nodes} ties={ties} />
      <h3>The areas</h3>
      <ul class="areas">
        {nodes.map(({ name, count }) => (
          <li key={name}>
            <a href={getTypeMapSubjectAreaUrl(name)}>{name}</a>{" "}
            <span class="soft">
              {typesOf(count)}; {name === nameOfSharedArea ? "used by all areas" : neighboursOf(name, ties)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Picture({
  nodes,
  ties,
}: {
  readonly nodes: readonly AreaNode[];
  readonly ties: readonly Tie[];
}): JSX.Element {
  const places = new Map(nodes.map((node) => [node.name, node]));
  return (
    <svg
      class="picture areas-picture"
      viewBox={`0 0 ${size.width} ${size.height}`}
      role="group"
      aria-label="The areas and their connections"
    >
      {ties.map(({ ends, count }) => {
        const [one, other] = ends.map((name) => places.get(name));
        return one === undefined || other === undefined ? null : (
          <path
            key={ends.join()}
            class="tie"
            stroke-width={Math.min(1 + count / 5, 9)}
            d={`M${one.x},${one.y} Q${size.width / 2},${size.height / 2} ${other.x},${other.y}`}
          />
        );
      })}
      {nodes.map(({ name, count, x, y }) => (
        <a key={name} href={getTypeMapSubjectAreaUrl(name)}>
          <rect
            class="box"
            x={x - size.box / 2}
            y={y - size.boxHeight / 2}
            width={size.box}
            height={size.boxHeight}
            rx="8"
          />
          <text class="box-name" x={x} y={y - 3} text-anchor="middle">
            {name}
          </text>
          <text class="box-note" x={x} y={y + 15} text-anchor="middle">
            {typesOf(count)}
          </text>
        </a>
      ))}
    </svg>
  );
}

function nodesOf(map: TypeMap): readonly AreaNode[] {
  const counts = areaNames
    .map((name) => ({
      name,
      count: [...map.values()].filter(
        (type) => type.area === name && !isPaginationType(type) && !rootTypeNames.includes(type.name),
      ).length,
    }))
    .filter(({ count }) => count > 0);
  return counts.map(({ name, count }, index) => {
    const angle = (index / counts.length) * 2 * Math.PI - Math.PI / 2;
    const [x, y] = [
      Math.cos(angle) * (size.width / 2 - size.box / 2 - 4),
      Math.sin(angle) * (size.height / 2 - size.boxHeight / 2 - 4),
    ];
    return { name, count, x: Math.round(size.width / 2 + x), y: Math.round(size.height / 2 + y) };
  });
}

/**
 * Counts how often the types of two areas of the schema refer to each other, for each pair of areas.
 * References to shared types (for example money) are not counted, because types of every area refer to them.
 */
function tiesOf(map: TypeMap): readonly Tie[] {
  const counts = new Map<string, number>();
  for (const { name, area, references } of map.values()) {
    if (area === nameOfSharedArea || isPaginationType({ name })) continue;
    for (const { from } of references) {
      const other = map.get(from)?.area;
      if (other === undefined || other === area || other === nameOfSharedArea) continue;
      const key = [area, other].toSorted().join("|");
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts].map(([key, count]) => {
    const [one = "", other = ""] = key.split("|");
    return { ends: [one, other], count };
  });
}

function neighboursOf(name: string, ties: readonly Tie[]): string {
  const found = ties
    .filter(({ ends }) => ends.includes(name))
    .toSorted((one, other) => other.count - one.count)
    .map(({ ends }) => ends.find((end) => end !== name));
  return found.length === 0 ? "not connected" : `connected to ${found.join(", ")}`;
}

/**
 * One search result of the type map: a type, a field or an enum value. If the reader presses Enter in the
 * search field, the first result opens.
 */
interface Hit {
  readonly type: string;
  readonly part: string | null;
}

const hitsMax = 24;

export function TypeMapSearch({ map }: { readonly map: TypeMap }): JSX.Element {
  const [words, setWords] = useState("");
  const hits = words.trim() === "" ? [] : findHits(map, words.trim().toLowerCase());
  const open = (event: Event): void => {
    event.preventDefault();
    if (hits[0] !== undefined) navigateToTypeMapUrl(getTypeMapTypeUrl(hits[0].type, hits[0].part ?? ""));
  };
  return (
    <search>
      <form onSubmit={open}>
        <label for="map-search">Find a type or a field</label>
        <input
          id="map-search"
          type="search"
          autocomplete="off"
          spellcheck={false}
          placeholder="Order, refund, trackingNumber …"
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      </form>
      <p class="soft count" aria-live="polite">
        {words.trim() === "" ? "" : countOf(hits.length)}
      </p>
      <ul class="hits">
        {hits.map(({ type, part }) => (
          <li key={`${type}.${part}`}>
            <a href={getTypeMapTypeUrl(type, part ?? "")}>
              {type}
              {part === null ? null : <span class="soft">.{part}</span>}
            </a>
          </li>
        ))}
      </ul>
    </search>
  );
}

function countOf(count: number): string {
  if (count === 0) return "No type or field has this name.";
  return count === hitsMax ? `The first ${hitsMax}:` : `${count} found:`;
}

/**
 * Searches the names in the schema. First come types whose names start with the searched words, then other
 * types whose names contain them, then fields and enum values.
 */
function findHits(map: TypeMap, words: string): readonly Hit[] {
  const types = [...map.values()].filter((type) => !isPaginationType(type));
  const named = types.filter(({ name }) => name.toLowerCase().includes(words));
  const parts = types.flatMap(({ name, parts: held }) =>
    held
      .filter((part) => part.name.toLowerCase().includes(words))
      .map((part): Hit => ({ type: name, part: part.name })),
  );
  const begins = ({ name }: { name: string }): number =>
    name.toLowerCase() === words ? 0 : name.toLowerCase().startsWith(words) ? 1 : 2;
  return [
    ...named
      .toSorted((one, other) => begins(one) - begins(other))
      .map(({ name }): Hit => ({ type: name, part: null })),
    ...parts,
  ].slice(0, hitsMax);
}
