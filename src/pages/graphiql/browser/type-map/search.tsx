/** Finds types, and fields, arguments and values by their names; Enter opens the first. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { isPaging, type TypeMap } from "./type-map.ts";

interface Hit {
  readonly type: string;
  readonly part: string | null;
}

const hitsMax = 24;

export function Search({ map }: { readonly map: TypeMap }): JSX.Element {
  const [words, setWords] = useState("");
  const hits = words.trim() === "" ? [] : findHits(map, words.trim().toLowerCase());
  const open = (event: Event): void => {
    event.preventDefault();
    if (hits[0] !== undefined) location.hash = `#${hits[0].type}`;
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
            <a href={`#${type}`}>
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
  if (count === 0) return "Nothing has this name.";
  return count === hitsMax ? `The first ${hitsMax}:` : `${count} found:`;
}

/** Types that begin so, types that have it in their names, parts that do. */
function findHits(map: TypeMap, words: string): readonly Hit[] {
  const types = [...map.values()].filter((type) => !isPaging(type));
  const named = types.filter(({ name }) => name.toLowerCase().includes(words));
  const parts = types.flatMap(({ name, parts: held }) =>
    held.filter((part) => part.name.toLowerCase().includes(words)).map((part): Hit => ({ type: name, part: part.name })),
  );
  const begins = ({ name }: { name: string }): number => (name.toLowerCase() === words ? 0 : name.toLowerCase().startsWith(words) ? 1 : 2);
  return [...named.toSorted((one, other) => begins(one) - begins(other)).map(({ name }): Hit => ({ type: name, part: null })), ...parts].slice(
    0,
    hitsMax,
  );
}
