/**
 * Adds a link to the type map below the heading of GraphiQL's documentation. GraphiQL has no place for own
 * content there, so the link is added to its element and updated when the heading changes.
 */
import type { LoadedSchema } from "./result/schema-types.ts";

interface DocsLinkOptions {
  /** URL path of the type map. */
  readonly map: string;
  readonly schema: () => LoadedSchema | undefined;
}

/** `panel` is the element of GraphiQL that contains the documentation while it is open. */
export function linkDocsToMap(panel: Element, { map, schema }: DocsLinkOptions): void {
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
  // The link opens the type map in a new browser tab, so that GraphiQL's answer stays visible. `opener` gives
  // the new tab a copy of the stored token.
  link.target = "_blank";
  link.rel = "opener";
  return link;
}

/**
 * Returns the type map's address for the heading of GraphiQL's documentation. The heading names a type, or a
 * field; the field's type is named above it.
 */
function addressOf(header: Element, schema: LoadedSchema | undefined): string | undefined {
  const title = header.querySelector(".graphiql-doc-explorer-title")?.textContent ?? "";
  if (isType(schema, title)) return `?type=${title}`;
  // The link back to the type begins with an icon that contains a text of its own, so only the link's last
  // part is read.
  const above = header.querySelector(".graphiql-doc-explorer-back")?.lastChild?.textContent ?? "";
  return isType(schema, above) && title !== "" ? `?type=${above}#${title}` : undefined;
}

const isType = (schema: LoadedSchema | undefined, name: string): boolean =>
  (schema?.getType(name) ?? undefined) !== undefined;
