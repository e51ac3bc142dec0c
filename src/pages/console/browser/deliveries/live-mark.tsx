/** Says whether what is shown is kept up to date. */
import type { JSX } from "preact";
import type { LiveState } from "#pages/console/browser/graph/hooks.ts";

const words: Readonly<Record<LiveState, string>> = {
  connecting: "Connecting …",
  live: "Live",
  waiting: "Not live, trying again …",
  ended: "Not live",
};

export const LiveMark = ({ state }: { readonly state: LiveState }): JSX.Element => <span class={`live ${state}`}>{words[state]}</span>;
