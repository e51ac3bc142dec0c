/** Asks the graph for what a part of the page shows; what is there stays until something newer has arrived. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { asFailure, ask, type GraphFailure, type Manner } from "./client.ts";
import type { Document } from "./document.ts";

export interface Asked<Result> {
  readonly data: Result | undefined;
  readonly failure: GraphFailure | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
  /** The same, where nobody has done anything but the page has heard of something. */
  readonly refresh: () => void;
}

const byPerson: Manner = { isBackground: false };

interface State<Result> {
  readonly key: string;
  readonly data?: Result;
  readonly failure?: GraphFailure;
  readonly isLoading: boolean;
}

export function useQuery<Result, Variables extends object>(document: Document<Result, Variables>, variables: Variables): Asked<Result> {
  const key = JSON.stringify([document, variables]);
  const [state, setState] = useState<State<Result>>({ key, isLoading: true });
  const latest = useRef(0);

  const load = useCallback(
    (manner: Manner) => {
      const turn = ++latest.current;
      setState((before) =>
        before.key === key && before.data !== undefined ? { key, data: before.data, isLoading: true } : { key, isLoading: true },
      );
      ask(document, variables, manner).then(
        (data) => turn === latest.current && setState({ key, data, isLoading: false }),
        (error: unknown) => {
          if (turn !== latest.current) return;
          setState((before) => ({ ...(before.key === key ? before : {}), key, failure: asFailure(error), isLoading: false }));
        },
      );
      // The key is the document with its variables.
    },
    [key],
  );

  useEffect(() => {
    load(byPerson);
    return () => void latest.current++;
  }, [load]);
  const reload = useCallback(() => load(byPerson), [load]);
  const refresh = useCallback(() => load({ isBackground: true }), [load]);

  const shown = state.key === key ? state : { key, isLoading: true };
  return { data: shown.data, failure: shown.failure, isLoading: shown.isLoading, reload, refresh };
}
