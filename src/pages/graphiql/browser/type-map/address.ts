/**
 * Addresses of the type map: `?type=Order` names a type, `?type=Order#lines` one of its fields,
 * `?area=Orders` an area. Without these, the map shows all areas. Links within the map change the address
 * without loading the page again.
 */
import { useEffect, useState } from "preact/hooks";

export interface MapAddress {
  /** The name of the type that the type map's address names; empty for an area or the overview. */
  readonly type: string;
  readonly area: string;
  /** The name of the field that the type map shows; empty if the address names no field. */
  readonly field: string;
}

export const typeUrl = (type: string, field = ""): string =>
  `?type=${encodeURIComponent(type)}${field === "" ? "" : `#${encodeURIComponent(field)}`}`;

export const areaUrl = (area: string): string => `?area=${encodeURIComponent(area)}`;

export const overviewUrl = (): string => location.pathname;

/**
 * Returns the id of the HTML element that describes a field. The prefix prevents an id that the page already
 * uses elsewhere.
 */
export const fieldElementId = (field: string): string => `field-${field}`;

/** Returns the current address of the type map. Renders again when the reader clicks a link or goes back. */
export function useMapAddress(): MapAddress {
  const [href, setHref] = useState(location.href);
  useEffect(() => {
    const follow = (): void => setHref(location.href);
    const click = (event: MouseEvent): void => {
      const url = clickedUrl(event);
      if (url === undefined) return;
      event.preventDefault();
      openMapUrl(url);
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
 * Opens an address of the type map. Stores the scroll position of the current page, for when the reader goes
 * back.
 */
export function openMapUrl(url: string): void {
  const target = new URL(url, location.href).href;
  history.replaceState({ top: scrollY }, "");
  if (target !== location.href) history.pushState(null, "", target);
  dispatchEvent(new PopStateEvent("popstate"));
}

/**
 * Returns how far the type map was scrolled when the reader left the current address; 0 for an address that
 * the reader opens for the first time.
 */
export function storedScrollTop(): number {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "top" in state && typeof state.top === "number"
    ? state.top
    : 0;
}

/** Returns the address of a clicked link to the map; undefined for other links, and for a new tab or window. */
function clickedUrl(event: MouseEvent): string | undefined {
  const { target, defaultPrevented, button } = event;
  const isPlainClick = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) && button === 0;
  const link = target instanceof Element ? target.closest("a[href]:not([target])") : null;
  if (defaultPrevented || !isPlainClick || link === null) return undefined;
  const url = new URL(link.getAttribute("href") ?? "", location.href);
  return url.origin === location.origin && url.pathname === location.pathname ? url.href : undefined;
}

function parseAddress(href: string): MapAddress {
  const { searchParams, hash } = new URL(href);
  return {
    type: searchParams.get("type") ?? "",
    area: searchParams.get("area") ?? "",
    field: decodeFragment(hash.slice(1)),
  };
}

/** Decodes the fragment. Returns the text unchanged if it ends in the middle of an encoded character. */
function decodeFragment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
