/**
 * Navigation inside the console: the current address below /console, links that change it without loading the
 * page, and the heading of a page.
 */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { consolePath } from "./graph/client.ts";

export interface ConsoleLocation {
  /** Below /console, as names between slashes. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

const moved = "console-moved";

/** An address that somebody mistyped leads to no page, but does not break the console. */
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

/** `to`: below /console. */
export function navigateTo(to: string): void {
  history.pushState(null, "", consolePath + to);
  dispatchEvent(new Event(moved));
}

/** Says the same place in other words, for example with a filter: no step back leads to before. */
export function replaceLocation(to: string): void {
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
    // Another tab or a download is the browser's business.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigateTo(to);
  };
  return (
    <a {...rest} href={consolePath + to} onClick={follow}>
      {children}
    </a>
  );
}

/** The title of a page: of the window, and the heading that has the focus after a step from page to page. */
interface HeadingProps {
  readonly title: string;
  /** What can be done, beside it. */
  readonly children?: ComponentChildren;
}

let isFirst = true;

export function PageHeading({ title, children }: HeadingProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – Console`;
  }, [title]);
  useEffect(() => {
    // Where the page was only just loaded, the browser's own place for the focus is right.
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
