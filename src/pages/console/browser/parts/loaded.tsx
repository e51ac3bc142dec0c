/** A part of the page that is asked of the graph: what it shows while it loads, when it fails, and when there is nothing. */
import type { ComponentChildren, JSX } from "preact";
import type { Asked } from "#pages/console/browser/graph/use-query.ts";
import { Banner } from "./banner.tsx";

interface LoadedProps<Result> {
  readonly asked: Asked<Result>;
  /** What is loaded, for example “API keys”. */
  readonly what: string;
  readonly children: (data: Result) => ComponentChildren;
}

export function Loaded<Result>({ asked, what, children }: LoadedProps<Result>): JSX.Element {
  const { data, failure, isLoading, reload } = asked;
  return (
    <div class="loaded" aria-busy={isLoading}>
      <Banner failure={failure} onRetry={reload} />
      {data !== undefined ? children(data) : failure === undefined ? <p class="soft waiting">Loading {what} …</p> : null}
    </div>
  );
}

export const Empty = ({ children }: { readonly children: ComponentChildren }): JSX.Element => <p class="empty">{children}</p>;
