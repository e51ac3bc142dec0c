/**
 * Navigation inside the console: the current path below /console, links that show another page without
 * loading a new document, and the heading of a page.
 */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { consolePath } from "./graph/client.ts";

export interface ConsoleLocation {
  /** The parts of the current URL path between the slashes, without the first part `/console`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

const moved = "console-moved";

/**
 * Decodes one part of the URL path. Returns a part with invalid encoding unchanged, which opens the page for
 * unknown paths.
 */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function placeNow(): ConsoleLocation {
  const parts = location.pathname
    .slice(consolePath.length)
    .split("/")
    .filter((part) => part !== "");
  return { parts: parts.map(decoded), query: new URLSearchParams(location.search) };
}

export function useConsoleLocation(): ConsoleLocation {
  const [place, setPlace] = useState(placeNow);
  useEffect(() => {
    const follow = (): void => setPlace(placeNow());
    for (const name of ["popstate", moved]) addEventListener(name, follow);
    return () => {
      for (const name of ["popstate", moved]) removeEventListener(name, follow);
    };
  }, []);
  return place;
}

/** Opens a page of the console at the given path below /console. */
export function navigateToConsolePath(to: string): void {
  history.pushState(null, "", consolePath + to);
  dispatchEvent(new Event(moved));
}

/** Changes the URL without a new entry in the browser's history, for example after a filter was changed. */
export function replaceConsoleUrlInHistory(to: string): void {
  history.replaceState(null, "", consolePath + to);
  dispatchEvent(new Event(moved));
}

interface LinkProps {
  readonly to: string;
  readonly "aria-current"?: "page" | undefined;
  readonly children: ComponentChildren;
}

export function ConsoleLink({ to, children, ...rest }: LinkProps): JSX.Element {
  const follow = (event: MouseEvent): void => {
    // The browser handles clicks with a modifier key or with another mouse button, because they open a new
    // tab or download the page.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigateToConsolePath(to);
  };
  return (
    <a {...rest} href={consolePath + to} onClick={follow}>
      {children}
    </a>
  );
}

/**
 * Sets the window's title and shows the page's heading. The heading gets the keyboard focus when the console
 * shows another page.
 */
interface HeadingProps {
  readonly title: string;
  /** The buttons that the page shows beside its heading. */
  readonly children?: ComponentChildren;
}

let isFirst = true;

export function PageHeading({ title, children }: HeadingProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – Console`;
  }, [title]);
  useLayoutEffect(() => {
    // The heading gets the focus when the console shows another page. After the first load of the console,
    // the browser sets the focus. A layout effect runs before the browser handles the next input; a later
    // effect would take the focus from a field in which the reader has begun to type.
    if (!isFirst) heading.current?.focus();
    isFirst = false;
  }, []);
  return (
    <div class="heading">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children === undefined ? null : <div class="actions">{children}</div>}
    </div>
  );
}
