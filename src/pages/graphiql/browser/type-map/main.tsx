/**
 * The type map: an interactive picture of the GraphQL schema. Reads the schema with the token of the tab, as
 * GraphiQL does, and shows the page that the URL's hash names.
 */
import { type JSX, render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { readPageData } from "#pages/graphiql/browser/page-data.ts";
import { TokenButton, TokenDialog } from "#pages/graphiql/browser/token-dialog.tsx";
import { TokenKeeper } from "#pages/graphiql/browser/token-keeper.ts";
import "./type-map.css";
import { AreaPage, TypePage } from "./pages.tsx";
import { typeMapQuery, type IntrospectedSchema } from "./introspection.ts";
import { TypeMapOverview, TypeSearch } from "./overview.tsx";
import { areaNames, createTypeMap, type TypeMapEntry, type TypeMap } from "./type-map.ts";

/** Returns the URL's hash and updates it when the hash changes. */
function useHash(): string {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return hash;
}

function Page({ map }: { readonly map: TypeMap }): JSX.Element {
  const hash = useHash();
  const place = mapLocation(hash, map);
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    document.title = `${place.title} – Type map – Commerce Gateway`;
    // After a click on a link the focus moves to the new heading. When the page is first loaded, it stays
    // at the top.
    if (!isFirst.current) {
      scrollTo(0, 0);
      heading.current?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [hash]);
  return (
    <>
      <TypeSearch key={hash} map={map} />
      {place.kind === "overview" ? null : (
        <p class="path">
          <a href="#">All areas</a>
          {place.kind === "type" && place.type.area !== "" ? (
            <>
              {" "}
              › <a href={`#area:${place.type.area}`}>{place.type.area}</a>
            </>
          ) : null}
        </p>
      )}
      <h2 class="place" tabindex={-1} ref={heading}>
        {place.title}
      </h2>
      {place.kind === "missing" ? (
        <p class="fault">
          The schema has no type of this name. Search for a type above, or start with the areas.
        </p>
      ) : null}
      {place.kind === "overview" ? <TypeMapOverview map={map} /> : null}
      {place.kind === "area" ? <AreaPage map={map} area={place.title} /> : null}
      {place.kind === "type" ? <TypePage map={map} type={place.type} /> : null}
    </>
  );
}

async function loadMap(keeper: TokenKeeper): Promise<TypeMap> {
  const { response } = await keeper.send({
    body: { query: typeMapQuery, operationName: "TypeMap" },
    isPatient: true,
  });
  const { data, errors } = (await response.json()) as {
    data?: { schema: IntrospectedSchema };
    errors?: readonly { message: string }[];
  };
  if (data === undefined) throw new Error(errors?.[0]?.message ?? "The service returned no schema.");
  return createTypeMap(data.schema);
}

async function begin(): Promise<void> {
  const [tools, app] = ["tools", "app"].map((id) => document.getElementById(id));
  if (!tools || !app) return;
  const { endpoint } = readPageData() as { readonly endpoint: string };
  const keeper = new TokenKeeper(endpoint);
  render(
    <>
      <TokenButton keeper={keeper} />
      <TokenDialog keeper={keeper} />
    </>,
    tools,
  );
  render(<p class="soft">Enter a token to load the schema and draw the map.</p>, app);
  const knowHolder = keeper.begin();
  try {
    const map = await loadMap(keeper);
    render(<Page map={map} />, app);
  } catch (error) {
    render(
      <p class="fault">
        {error instanceof Error ? error.message : String(error)} Load the page again to try once more.
      </p>,
      app,
    );
  }
  await knowHolder;
}

/** The page of the map that the URL's hash names: `#Order`, `#area:Orders`, or empty for the overview. */
type MapLocation =
  | { readonly kind: "overview" | "area" | "missing"; readonly title: string }
  | { readonly kind: "type"; readonly title: string; readonly type: TypeMapEntry };

function mapLocation(hash: string, map: TypeMap): MapLocation {
  const name = decoded(hash.replace(/^#/, ""));
  if (name === "") return { kind: "overview", title: "All areas" };
  const area = areaNames.find((found) => name === `area:${found}`);
  if (area !== undefined) return { kind: "area", title: area };
  const type = map.get(name);
  return type === undefined ? { kind: "missing", title: name } : { kind: "type", title: name, type };
}

/** Decodes the hash. Returns the text unchanged if a shortened URL ends in the middle of an encoded character. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

void begin();
