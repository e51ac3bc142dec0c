/**
 * Adds a link to the type map (the picture of the schema) below the heading of the documentation in GraphiQL.
 * GraphiQL offers no place for additional content there, so the link is inserted into its HTML element and
 * updated when the heading changes.
 */
import type { LoadedGraphqlSchema } from "./result/schema-types.ts";

interface DocsLinkOptions {
  /** The URL path of the type map. */
  readonly map: string;
  readonly schema: () => LoadedGraphqlSchema | undefined;
}

/**
 * Shows the link to the type map in GraphiQL's documentation, and updates the link when the documentation's
 * heading changes. `panel` is GraphiQL's HTML element that contains the documentation while the documentation
 * is open.
 */
export function addTypeMapLinkToDocsPanel(panel: Element, { map, schema }: DocsLinkOptions): void {
  const update = (): void => {
    const header = panel.querySelector(".graphiql-doc-explorer-header-content");
    if (header === null) return;
    const address = addressOf(header, schema());
    const present = header.querySelector<HTMLAnchorElement>("a.map-link");
    if (address === undefined) present?.remove();
    else if (present === null) header.append(createLink(`${map}${address}`));
    else if (present.getAttribute("href") !== `${map}${address}`) present.href = `${map}${address}`;
  };
  new MutationObserver(update).observe(panel, { childList: true, subtree: true, characterData: true });
  update();
}

function createLink(href: string): HTMLAnchorElement {
  const link = document.createElement("a");
  link.className = "map-link";
  link.textContent = "Show in the type map";
  link.href = href;
  // The link opens the type map in a new browser tab, so that the answer in GraphiQL stays visible. The
  // link's attribute `rel` contains `opener`, because browsers copy the stored token into the new tab only
  // then.
  link.target = "_blank";
  link.rel = "opener";
  return link;
}

/**
 * Returns the URL in the type map for the heading of GraphiQL's documentation. The heading names a type or a
 * field. If it names a field, the field's type is named above the heading.
 */
function addressOf(header: Element, schema: LoadedGraphqlSchema | undefined): string | undefined {
  const title = header.querySelector(".graphiql-doc-explorer-title")?.textContent ?? "";
  if (isType(schema, title)) return `?type=${title}`;
  // GraphiQL's link back to the type contains an icon with its own text, followed by the name of the type.
  // This function reads only the name.
  const above = header.querySelector(".graphiql-doc-explorer-back")?.lastChild?.textContent ?? "";
  return isType(schema, above) && title !== "" ? `?type=${above}#${title}` : undefined;
}

const isType = (schema: LoadedGraphqlSchema | undefined, name: string): boolean =>
  (schema?.getType(name) ?? undefined) !== undefined;
