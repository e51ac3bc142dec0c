/** Everything of one area: how one gets in, by queries and mutations, and its types by their kinds. */
import type { JSX } from "preact";
import { areaOfRootField } from "./areas.ts";
import type { Part } from "./parts.ts";
import { Said } from "./said.tsx";
import { isPaging, type Kind, kinds, type MapType, rootNames, type TypeMap } from "./type-map.ts";

interface Area {
  readonly map: TypeMap;
  readonly area: string;
}

const titles: Readonly<Record<Kind, string>> = {
  object: "Objects",
  interface: "Interfaces",
  union: "Unions",
  input: "Inputs",
  enum: "Enums",
  scalar: "Scalars",
};

export function AreaPage({ map, area }: Area): JSX.Element {
  const types = [...map.values()].filter((type) => type.area === area && !rootNames.includes(type.name));
  return (
    <>
      {rootNames.map((root) => (
        <RootFields key={root} root={root} parts={rootParts({ map, area }, root)} />
      ))}
      {kinds.map((kind) => (
        <Types key={kind} title={titles[kind]} types={types.filter((type) => type.kind === kind && !isPaging(type))} />
      ))}
      <Types title="Pages of lists" types={types.filter(isPaging)} />
    </>
  );
}

function rootParts({ map, area }: Area, root: string): readonly Part[] {
  return (map.get(root)?.parts ?? []).filter((part) => areaOfRootField(part, (name) => map.get(name)?.area) === area);
}

const rootTitles: Readonly<Record<string, string>> = { Query: "Queries", Mutation: "Mutations", Subscription: "Subscriptions" };

function RootFields({ root, parts }: { readonly root: string; readonly parts: readonly Part[] }): JSX.Element | null {
  return parts.length === 0 ? null : (
    <section>
      <h3>{rootTitles[root]}</h3>
      <ul class="told">
        {parts.map(({ name, leadsTo, description }) => (
          <li key={name}>
            <code>{name}</code> → <a href={`#${leadsTo}`}>{leadsTo}</a>{" "}
            <span class="soft">
              <Said text={firstSentence(description)} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Types({ title, types }: { readonly title: string; readonly types: readonly MapType[] }): JSX.Element | null {
  return types.length === 0 ? null : (
    <section>
      <h3>{title}</h3>
      <ul class="told">
        {types.map(({ name, description }) => (
          <li key={name}>
            <a href={`#${name}`}>{name}</a>{" "}
            <span class="soft">
              <Said text={firstSentence(description)} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const firstSentence = (text: string): string => /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text;
