/** The way through a long list. */
import type { JSX } from "preact";
import type { Pages } from "#pages/console/browser/graph/use-pages.ts";

interface PagerProps {
  readonly pages: Pages;
  readonly what: string;
  /** Where the older ones begin, or the next ones; undefined: there are none. */
  readonly older: string | undefined;
  /** Then what follows is newer, and the buttons say nothing of age. */
  readonly isOldestFirst?: boolean;
}

export function Pager({ pages, what, older, isOldestFirst = false }: PagerProps): JSX.Element | null {
  if (pages.number === 1 && older === undefined) return null;
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <button type="button" class="second" disabled={pages.number === 1} onClick={pages.newer}>
        {isOldestFirst ? "Previous" : "Newer"}
      </button>
      <span>Page {pages.number}</span>
      <button type="button" class="second" disabled={older === undefined} onClick={() => older !== undefined && pages.older(older)}>
        {isOldestFirst ? "Next" : "Older"}
      </button>
    </nav>
  );
}
