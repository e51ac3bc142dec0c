/** One type: its picture, and the same in words – its parts with their arguments, what leads to it, what it is a kind of. */
import type { JSX } from "preact";
import { Said } from "./said.tsx";
import { TypePicture } from "./type-picture.tsx";
import type { Argument, Part } from "./parts.ts";
import type { Kind, MapType, TypeMap, Way } from "./type-map.ts";

interface Shown {
  readonly map: TypeMap;
  readonly type: MapType;
}

const partNames: Readonly<Record<Kind, string>> = {
  object: "Fields",
  interface: "Fields",
  input: "Fields",
  enum: "Values",
  union: "Fields",
  scalar: "Fields",
};

export function TypePage({ map, type }: Shown): JSX.Element {
  return (
    <>
      <p>
        <span class="kind">{type.kind}</span> <Said text={type.description} />
      </p>
      <TypePicture map={map} type={type} />
      {type.parts.length === 0 ? null : (
        <section>
          <h3>
            {partNames[type.kind]} <span class="soft">{type.parts.length}</span>
          </h3>
          <ul class="told parts">
            {type.parts.map((part) => (
              <PartTold key={part.name} part={part} />
            ))}
          </ul>
        </section>
      )}
      <Ways ways={type.ways} />
      {type.relatives.length === 0 ? null : (
        <section>
          <h3>{type.kind === "object" ? "Is a" : "May be a"}</h3>
          <ul class="told">
            {type.relatives.map((name) => (
              <li key={name}>
                <a href={`#${name}`}>{name}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function PartTold({ part }: { readonly part: Part }): JSX.Element {
  return (
    <li>
      <code class="part">{part.name}</code>
      {part.type === null ? null : (
        <>
          {" "}
          <a href={`#${part.leadsTo}`}>
            <code>{part.type}</code>
          </a>
        </>
      )}
      <span class="says">
        <Said text={part.description} />
      </span>
      {part.deprecation === null ? null : <span class="says warn">Deprecated: {part.deprecation}</span>}
      {part.args.length === 0 ? null : (
        <ul class="args">
          {part.args.map((argument) => (
            <ArgumentTold key={argument.name} argument={argument} />
          ))}
        </ul>
      )}
    </li>
  );
}

function ArgumentTold({ argument: { name, type, leadsTo, description, defaultValue } }: { readonly argument: Argument }): JSX.Element {
  return (
    <li>
      <code>{name}</code>{" "}
      <a href={`#${leadsTo}`}>
        <code>{type}</code>
      </a>
      {defaultValue === null ? null : (
        <>
          {" "}
          = <code>{defaultValue}</code>
        </>
      )}
      <span class="says soft">
        <Said text={description} />
      </span>
    </li>
  );
}

function Ways({ ways }: { readonly ways: readonly Way[] }): JSX.Element {
  return (
    <section>
      <h3>
        Leads here <span class="soft">{ways.length}</span>
      </h3>
      {ways.length === 0 ? <p class="soft">Nothing: the graph begins here, or it is kept for later.</p> : null}
      <ul class="told ways">
        {ways.map(({ from, part }) => (
          <li key={`${from}.${part}`}>
            <a href={`#${from}`}>{from}</a>
            <span class="soft">.{part}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
