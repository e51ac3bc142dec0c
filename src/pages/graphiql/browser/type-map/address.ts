/**
 * The URLs of the type map (a picture of the GraphQL schema). `?type=Order` shows a type, and
 * `?type=Order#lines` a field of the type. `?area=Orders` shows an area, which is a group of types about one
 * subject. Without a query, the map shows all areas. Links within the map change the URL without loading the
 * page again.
 */
import { useEffect, useState } from "preact/hooks";

export interface TypeMapUrlSelection {
  /** The name of the type in the URL of the type map; empty if the URL names an area or nothing. */
  readonly type: string;
  readonly area: string;
  /** The name of the field in the URL of the type map; empty if the URL names no field. */
  readonly field: string;
}

export const getTypeMapTypeUrl = (type: string, field = ""): string =>
  `?type=${encodeURIComponent(type)}${field === "" ? "" : `#${encodeURIComponent(field)}`}`;

export const getTypeMapSubjectAreaUrl = (area: string): string => `?area=${encodeURIComponent(area)}`;

export const getTypeMapOverviewUrl = (): string => location.pathname;

/**
 * Returns the id of the HTML element that describes a GraphQL field. The prefix `field-` makes the id
 * different from the ids of all other elements of the page.
 */
export const getTypeMapFieldElementId = (field: string): string => `field-${field}`;

/**
 * Returns the type, field or area that the type map's URL names. The calling component is rendered again when
 * the reader follows a link within the map or goes back.
 */
export function useTypeMapUrlSelection(): TypeMapUrlSelection {
  const [href, setHref] = useState(location.href);
  useEffect(() => {
    const follow = (): void => setHref(location.href);
    const click = (event: MouseEvent): void => {
      const url = clickedUrl(event);
      if (url === undefined) return;
      event.preventDefault();
      navigateToTypeMapUrl(url);
    };
    history.scrollRestoration = "manual";
    addEventListener("popstate", follow);
    addEventListener("click", click);
    return () => {
      removeEventListener("popstate", follow);
      removeEventListener("click", click);
    };
  }, []);
  return parseAddress(href);
}

/**
 * Shows another URL of the type map. Stores the scroll position of the current page, which is restored if the
 * reader goes back.
 */
export function navigateToTypeMapUrl(url: string): void {
  const target = new URL(url, location.href).href;
  history.replaceState({ top: scrollY }, "");
  if (target !== location.href) history.pushState(null, "", target);
  dispatchEvent(new PopStateEvent("popstate"));
}

/**
 * Returns how far the type map was scrolled when the reader last left this URL; 0 if the reader opens this
 * URL for the first time.
 */
export function getStoredTypeMapScrollTop(): number {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "top" in state && typeof state.top === "number"
    ? state.top
    : 0;
}

/**
 * Returns the URL of a clicked link within the type map. Returns undefined for other links, and for a click
 * that opens a new tab or window.
 */
function clickedUrl(event: MouseEvent): string | undefined {
  const { target, defaultPrevented, button } = event;
  const isPlainClick = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) && button === 0;
  const link = target instanceof Element ? target.closest("a[href]:not([target])") : null;
  if (defaultPrevented || !isPlainClick || link === null) return undefined;
  const url = new URL(link.getAttribute("href") ?? "", location.href);
  return url.origin === location.origin && url.pathname === location.pathname ? url.href : undefined;
}

function parseAddress(href: string): TypeMapUrlSelection {
  const { searchParams, hash } = new URL(href);
  return {
    type: searchParams.get("type") ?? "",
    area: searchParams.get("area") ?? "",
    field: decodeFragment(hash.slice(1)),
  };
}

/**
 * Decodes the fragment of the URL. Returns the fragment unchanged if it cannot be decoded, for example
 * because it ends in the middle of an encoded character.
 */
function decodeFragment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
