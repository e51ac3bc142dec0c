/** The title of a page: of the window, and the heading that has the focus after a step from page to page. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface HeadingProps {
  readonly title: string;
  /** What can be done, beside it. */
  readonly children?: ComponentChildren;
}

let isFirst = true;

export function Heading({ title, children }: HeadingProps): JSX.Element {
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
