/**
 * The pages of the type map for one type and for one area (a group of types). The page of a type has a
 * picture, and lists the fields or values of the type with their arguments. It also lists the types that
 * refer to the type, and its interfaces or member types.
 */
import type { JSX } from "preact";
import { getTypeMapFieldElementId, getTypeMapTypeUrl } from "./address.ts";
import { GraphqlTypeDiagram } from "./type-picture.tsx";
import {
  getSubjectAreaOfRootField,
  type GraphqlFieldArgument,
  isPaginationType,
  type GraphqlTypeKind,
  typeKinds,
  type GraphqlTypeMapEntry,
  type GraphqlTypeMember,
  rootTypeNames,
  type TypeMap,
  type ReferenceToGraphqlType,
} from "./type-map.ts";

interface TypePageProps {
  readonly map: TypeMap;
  readonly type: GraphqlTypeMapEntry;
  /**
   * The name of the field that the page highlights because the URL names the field; empty if the URL names no
   * field.
   */
  readonly field: string;
}

const partNames: Readonly<Record<GraphqlTypeKind, string>> = {
  object: "Fields",
  interface: "Fields",
  input: "Fields",
  enum: "Values",
  union: "Fields",
  scalar: "Fields",
};

export function TypeMapTypePage({ map, type, field }: TypePageProps): JSX.Element {
  return (
    <>
      <p>
        <span class="badge">{type.kind}</span> <Description text={type.description} />
      </p>
      <GraphqlTypeDiagram map={map} type={type} />
      {type.parts.length === 0 ? null : (
        <section>
          <h3>
            {partNames[type.kind]} <span class="soft">{type.parts.length}</span>
          </h3>
          <ul class="type-list parts">
            {type.parts.map((part) => (
              <PartItem key={part.name} type={type.name} part={part} isMarked={part.name === field} />
            ))}
          </ul>
        </section>
      )}
      <IncomingReferences references={type.references} />
      {type.relatives.length === 0 ? null : (
        <section>
          <h3>{type.kind === "object" ? "Implements" : "Possible types"}</h3>
          <ul class="type-list">
            {type.relatives.map((name) => (
              <li key={name}>
                <a href={getTypeMapTypeUrl(name)}>{name}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

interface PartItemProps {
  readonly type: string;
  readonly part: GraphqlTypeMember;
  /** True if the URL names this field or enum value. The page then highlights it. */
  readonly isMarked: boolean;
}

function PartItem({ type, part, isMarked }: PartItemProps): JSX.Element {
  return (
    <li id={getTypeMapFieldElementId(part.name)} tabIndex={-1} class={isMarked ? "marked" : undefined}>
      <a class="part" href={getTypeMapTypeUrl(type, part.name)} aria-label={`Link to ${type}.${part.name}`}>
        <code>{part.name}</code>
      </a>
      {part.type === null ? null : (
        <>
          {" "}
          <a href={getTypeMapTypeUrl(part.leadsTo ?? "")}>
            <code>{part.type}</code>
          </a>
        </>
      )}
      <span class="says">
        <Description text={part.description} />
      </span>
      {part.deprecation === null ? null : <span class="says warn">Deprecated: {part.deprecation}</span>}
      {part.args.length === 0 ? null : (
        <ul class="args">
          {part.args.map((argument) => (
            <ArgumentItem key={argument.name} argument={argument} />
          ))}
        </ul>
      )}
    </li>
  );
}

function ArgumentItem({
  argument: { name, type, leadsTo, description, defaultValue },
}: {
  readonly argument: GraphqlFieldArgument;
}): JSX.Element {
  return (
    <li>
      <code>{name}</code>{" "}
      <a href={getTypeMapTypeUrl(leadsTo)}>
        <code>{type}</code>
      </a>
      {defaultValue === null ? null : (
        <>
          {" "}
          = <code>{defaultValue}</code>
        </>
      )}
      <span class="says soft">
        <Description text={description} />
      </span>
    </li>
  );
}

function IncomingReferences({
  references,
}: {
  readonly references: readonly ReferenceToGraphqlType[];
}): JSX.Element {
  return (
    <section>
      <h3>
        Used by <span class="soft">{references.length}</span>
      </h3>
      {references.length === 0 ? <p class="soft">No other type refers to this type.</p> : null}
      <ul class="type-list references">
        {references.map(({ from, part }) => (
          <li key={`${from}.${part}`}>
            <a href={getTypeMapTypeUrl(from, part.replace(/\(.*/, ""))}>{from}</a>
            <span class="soft">.{part}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/**
 * The page of one area of the schema (a group of types): its queries, mutations and subscriptions, and its
 * types by kind.
 */
interface Area {
  readonly map: TypeMap;
  readonly area: string;
}

const titles: Readonly<Record<GraphqlTypeKind, string>> = {
  object: "Objects",
  interface: "Interfaces",
  union: "Unions",
  input: "Inputs",
  enum: "Enums",
  scalar: "Scalars",
};

export function TypeMapAreaPage({ map, area }: Area): JSX.Element {
  const types = [...map.values()].filter((type) => type.area === area && !rootTypeNames.includes(type.name));
  return (
    <>
      {rootTypeNames.map((root) => (
        <RootFields key={root} root={root} parts={rootParts({ map, area }, root)} />
      ))}
      {typeKinds.map((kind) => (
        <Types
          key={kind}
          title={titles[kind]}
          types={types.filter((type) => type.kind === kind && !isPaginationType(type))}
        />
      ))}
      <Types title="Pages of lists" types={types.filter(isPaginationType)} />
    </>
  );
}

function rootParts({ map, area }: Area, root: string): readonly GraphqlTypeMember[] {
  return (map.get(root)?.parts ?? []).filter(
    (part) => getSubjectAreaOfRootField(part, (name) => map.get(name)?.area) === area,
  );
}

const rootTitles: Readonly<Record<string, string>> = {
  Query: "Queries",
  Mutation: "Mutations",
  Subscription: "Subscriptions",
};

function RootFields({
  root,
  parts,
}: {
  readonly root: string;
  readonly parts: readonly GraphqlTypeMember[];
}): JSX.Element | null {
  return parts.length === 0 ? null : (
    <section>
      <h3>{rootTitles[root]}</h3>
      <ul class="type-list">
        {parts.map(({ name, leadsTo, description }) => (
          <li key={name}>
            <code>{name}</code> → <a href={getTypeMapTypeUrl(leadsTo ?? "")}>{leadsTo}</a>{" "}
            <span class="soft">
              <Description text={firstSentence(description)} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Types({
  title,
  types,
}: {
  readonly title: string;
  readonly types: readonly GraphqlTypeMapEntry[];
}): JSX.Element | null {
  return types.length === 0 ? null : (
    <section>
      <h3>{title}</h3>
      <ul class="type-list">
        {types.map(({ name, description }) => (
          <li key={name}>
            <a href={getTypeMapTypeUrl(name)}>{name}</a>{" "}
            <span class="soft">
              <Description text={firstSentence(description)} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const firstSentence = (text: string): string => /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text;

/** Renders a description from the schema. The parts between backticks are shown as code. */
function Description({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {text.split("`").map((piece, index) =>
        // The index of each part of the description is used as its Preact key, because the parts never change
        // their order.
        index % 2 === 1 ? <code key={`${index}`}>{piece}</code> : piece,
      )}
    </>
  );
}
