/** Leafs through a list by its cursors: towards what is older, and back. */
import { useState } from "preact/hooks";

export interface Pages {
  /** Where the page begins; null: at the newest. */
  readonly cursor: string | null;
  readonly number: number;
  readonly older: (cursor: string) => void;
  readonly newer: () => void;
}

/** `what` is leafed through: another list begins at its newest. */
export function usePages(what = ""): Pages {
  const [state, setState] = useState<{ what: string; cursors: readonly string[] }>({ what, cursors: [] });
  const cursors = state.what === what ? state.cursors : [];
  return {
    cursor: cursors.at(-1) ?? null,
    number: cursors.length + 1,
    older: (cursor) => setState({ what, cursors: [...cursors, cursor] }),
    newer: () => setState({ what, cursors: cursors.slice(0, -1) }),
  };
}
