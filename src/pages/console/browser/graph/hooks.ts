/**
 * Preact hooks for GraphQL: `useQuery` reads, `useMutation` runs a mutation, `useSubscription` follows a
 * subscription, `useListPaging` holds the cursor of a list.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type LiveState, followSubscription } from "#pages/shared/browser/live-subscription.ts";
import {
  toGraphFailure,
  requestGraph,
  basePath,
  consoleHeaders,
  type GraphFailure,
  type RequestOrigin,
  reloadForSignIn,
} from "./client.ts";
import type { GraphDocument } from "./documents.ts";

export type { LiveState };

/**
 * Follows a subscription. Does nothing while `variables` is undefined. `onData` is called with `isFirst` true
 * for the first event of each stream, which contains the current state and not a change.
 */
export function useSubscription<Result, Variables extends object>(
  document: GraphDocument<Result, Variables>,
  variables: Variables | undefined,
  onData: (data: Result, isFirst: boolean) => void,
): LiveState {
  const [state, setState] = useState<LiveState>("connecting");
  const latest = useRef(onData);
  latest.current = onData;
  const key = JSON.stringify(variables);
  useEffect(() => {
    if (variables === undefined) return undefined;
    const stopping = new AbortController();
    const { signal } = stopping;
    let isFirst = true;
    followSubscription<Result>({
      url: `${basePath}/graphql`,
      query: document,
      variables: variables as Readonly<Record<string, unknown>>,
      headers: consoleHeaders,
      signal,
      onNext: ({ data }) => {
        if (signal.aborted || data === null || data === undefined) return;
        latest.current(data, isFirst);
        isFirst = false;
      },
      onState: (next, status) => {
        if (signal.aborted) return;
        setState(next);
        if (next === "connecting") isFirst = true;
        if (status === 401) reloadForSignIn();
      },
    });
    return () => stopping.abort();
  }, [document, key]);
  return state;
}

/** The state of a query. Old data stays visible until newer data has arrived. */
export interface QueryState<Result> {
  readonly data: Result | undefined;
  readonly failure: GraphFailure | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
  /**
   * Loads the query's data again because of an event or a timer, not because of an action of the staff
   * member.
   */
  readonly refresh: () => void;
}

const byPerson: RequestOrigin = { isBackground: false };

interface State<Result> {
  readonly key: string;
  readonly data?: Result;
  readonly failure?: GraphFailure;
  readonly isLoading: boolean;
}

export function useQuery<Result, Variables extends object>(
  document: GraphDocument<Result, Variables>,
  variables: Variables,
): QueryState<Result> {
  const key = JSON.stringify([document, variables]);
  const [state, setState] = useState<State<Result>>({ key, isLoading: true });
  const latest = useRef(0);

  const load = useCallback(
    (manner: RequestOrigin) => {
      const turn = ++latest.current;
      setState((before) =>
        before.key === key && before.data !== undefined
          ? { key, data: before.data, isLoading: true }
          : { key, isLoading: true },
      );
      requestGraph(document, variables, manner).then(
        (data) => turn === latest.current && setState({ key, data, isLoading: false }),
        (error: unknown) => {
          if (turn !== latest.current) return;
          setState((before) => ({
            ...(before.key === key ? before : {}),
            key,
            failure: toGraphFailure(error),
            isLoading: false,
          }));
        },
      );
      // This effect runs the query again only if the GraphQL document or its variables change.
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

/** The state of a mutation, and the function that runs it. */
interface MutationState<Result, Variables> {
  readonly isBusy: boolean;
  readonly failure: GraphFailure | undefined;
  /** Runs the mutation. Returns undefined if it failed. */
  readonly run: (variables: Variables) => Promise<Result | undefined>;
  readonly forget: () => void;
}

export interface IdempotencyVariables {
  readonly idempotencyKey: string;
}

/**
 * Runs a mutation with an idempotency key. If the same variables are sent again after a failure, the key is
 * the same too, because the first request may have succeeded.
 */
export function useMutation<Result, Variables extends object>(
  document: GraphDocument<Result, Variables & IdempotencyVariables>,
): MutationState<Result, Variables> {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<GraphFailure>();
  const intent = useRef<{ readonly text: string; readonly key: string } | undefined>(undefined);

  const run = useCallback(
    async (variables: Variables) => {
      const text = JSON.stringify(variables);
      if (intent.current?.text !== text) intent.current = { text, key: crypto.randomUUID() };
      setBusy(true);
      setFailure(undefined);
      try {
        const result = await requestGraph(document, { ...variables, idempotencyKey: intent.current.key });
        intent.current = undefined;
        return result;
      } catch (error) {
        setFailure(toGraphFailure(error));
        return undefined;
      } finally {
        setBusy(false);
      }
    },
    [document],
  );
  const forget = useCallback(() => setFailure(undefined), []);
  return { isBusy, failure, run, forget };
}

/**
 * The shown page of a list that is read with GraphQL cursors, and functions that open the page with older or
 * newer items.
 */
export interface ListPaging {
  /** The GraphQL cursor at which the shown page of the list begins; null for the newest items. */
  readonly cursor: string | null;
  readonly number: number;
  readonly older: (cursor: string) => void;
  readonly newer: () => void;
}

/**
 * Stores which page of a list is shown. `what` names the list and its filter. When `what` changes, the page
 * with the newest items is shown.
 */
export function useListPaging(what = ""): ListPaging {
  const [state, setState] = useState<{ what: string; cursors: readonly string[] }>({ what, cursors: [] });
  const cursors = state.what === what ? state.cursors : [];
  return {
    cursor: cursors.at(-1) ?? null,
    number: cursors.length + 1,
    older: (cursor) => setState({ what, cursors: [...cursors, cursor] }),
    newer: () => setState({ what, cursors: cursors.slice(0, -1) }),
  };
}
