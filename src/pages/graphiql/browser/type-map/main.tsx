/**
 * The type map: an interactive picture of the GraphQL schema. Reads the schema with the browser tab's stored
 * token, like GraphiQL. Shows the type or area (a group of types) in the page's URL.
 */
import { type JSX, render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { readEmbeddedPageData, type GraphiqlTokenDialogData } from "#pages/graphiql/browser/page-data.ts";
import { GraphiqlTokenButton, GraphiqlTokenDialog } from "#pages/graphiql/browser/token-dialog.tsx";
import { GraphiqlTokenManager } from "#pages/graphiql/browser/token-keeper.ts";
import "./type-map.css";
import {
  getTypeMapSubjectAreaUrl,
  getTypeMapFieldElementId,
  getStoredTypeMapScrollTop,
  type TypeMapUrlSelection,
  getTypeMapOverviewUrl,
  useTypeMapUrlSelection,
} from "./address.ts";
import { TypeMapAreaPage, TypeMapTypePage } from "./pages.tsx";
import { typeMapQuery, type IntrospectedSchema } from "./introspection.ts";
import { TypeMapOverview, TypeMapSearch } from "./overview.tsx";
import { areaNames, createGraphqlTypeMap, type GraphqlTypeMapEntry, type TypeMap } from "./type-map.ts";

function Page({ map }: { readonly map: TypeMap }): JSX.Element {
  const address = useTypeMapUrlSelection();
  const { type, area, field } = address;
  const place = mapLocation(address, map);
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    document.title = `${place.title} – Type map – Commerce Gateway`;
    const element = field === "" ? null : document.getElementById(getTypeMapFieldElementId(field));
    if (element !== null) {
      element.scrollIntoView({ block: "center" });
      element.focus({ preventScroll: true });
    } else if (!isFirst.current) {
      // The heading of the new content gets the focus after a click on a link within the type map. At the
      // first load, the focus stays at the top of the page.
      scrollTo(0, getStoredTypeMapScrollTop());
      heading.current?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [type, area, field]);
  return (
    <>
      <TypeMapSearch key={`${type} ${area} ${field}`} map={map} />
      {place.kind === "overview" ? null : (
        <p class="path">
          <a href={getTypeMapOverviewUrl()}>All areas</a>
          {place.kind === "type" && place.type.area !== "" ? (
            <>
              {" "}
              › <a href={getTypeMapSubjectAreaUrl(place.type.area)}>{place.type.area}</a>
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
      {place.kind === "area" ? <TypeMapAreaPage map={map} area={place.title} /> : null}
      {place.kind === "type" ? <TypeMapTypePage map={map} type={place.type} field={field} /> : null}
    </>
  );
}

async function loadMap(keeper: GraphiqlTokenManager): Promise<TypeMap> {
  const { response } = await keeper.send({
    body: { query: typeMapQuery, operationName: "TypeMap" },
    isPatient: true,
  });
  const { data, errors } = (await response.json()) as {
    data?: { schema: IntrospectedSchema };
    errors?: readonly { message: string }[];
  };
  if (data === undefined) throw new Error(errors?.[0]?.message ?? "The service returned no schema.");
  return createGraphqlTypeMap(data.schema);
}

async function begin(): Promise<void> {
  const [tools, app] = ["tools", "app"].map((id) => document.getElementById(id));
  if (!tools || !app) return;
  const data = readEmbeddedPageData() as GraphiqlTokenDialogData;
  const keeper = new GraphiqlTokenManager(data.endpoint);
  render(
    <>
      <GraphiqlTokenButton keeper={keeper} />
      <GraphiqlTokenDialog keeper={keeper} data={data} />
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

/** The type, field or area in the page's URL, whose page the type map shows. */
type MapLocation =
  | { readonly kind: "overview" | "area" | "missing"; readonly title: string }
  | { readonly kind: "type"; readonly title: string; readonly type: GraphqlTypeMapEntry };

/**
 * Finds the type, field or area that the URL of the type map names. A URL with only a fragment, for example
 * `#Order`, names a type, because readers can type it easily.
 */
function mapLocation({ type, area, field }: TypeMapUrlSelection, map: TypeMap): MapLocation {
  if (areaNames.includes(area)) return { kind: "area", title: area };
  const name = type === "" && area === "" ? field : type;
  if (name === "" && area === "") return { kind: "overview", title: "All areas" };
  const entry = map.get(name);
  return entry === undefined
    ? { kind: "missing", title: name === "" ? area : name }
    : { kind: "type", title: name, type: entry };
}

void begin();
