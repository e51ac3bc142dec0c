/**
 * Adds a link to the type map (a picture of the schema) to the documentation inside GraphiQL. GraphiQL has no
 * extension point there, so the link is inserted into its HTML below the heading, and updated when the
 * heading changes.
 */
import type { LoadedGraphqlSchema } from "./result/schema-types.ts";

interface DocsLinkOptions {
  /** The URL path of the type map. */
  readonly map: string;
  readonly schema: () => LoadedGraphqlSchema | undefined;
}

/**
 * Shows the link to the type map in GraphiQL's documentation, and updates it when the heading changes.
 * `panel` is GraphiQL's HTML element in which the open documentation appears.
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
  // A new browser tab keeps the answer in GraphiQL visible. The attribute `rel` must contain `opener`,
  // because browsers otherwise do not copy the stored token into the new tab.
  link.target = "_blank";
  link.rel = "opener";
  return link;
}

/**
 * Returns the type map's URL for the current heading of GraphiQL's documentation. The heading is the name of
 * a type or of a field. Above the heading of a field is the name of the field's type.
 */
function addressOf(header: Element, schema: LoadedGraphqlSchema | undefined): string | undefined {
  const title = header.querySelector(".graphiql-doc-explorer-title")?.textContent ?? "";
  if (isType(schema, title)) return `?type=${title}`;
  // Reads the name of the type from GraphiQL's link back to the type. The link also contains an icon with a
  // text, which is skipped.
  const above = header.querySelector(".graphiql-doc-explorer-back")?.lastChild?.textContent ?? "";
  return isType(schema, above) && title !== "" ? `?type=${above}#${title}` : undefined;
}

const isType = (schema: LoadedGraphqlSchema | undefined, name: string): boolean =>
  (schema?.getType(name) ?? undefined) !== undefined;
