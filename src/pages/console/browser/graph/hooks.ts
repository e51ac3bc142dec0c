/**
 * Preact hooks for GraphQL: `useGraphqlQuery` reads data, `useGraphqlMutation` runs a mutation,
 * `useGraphqlSubscription` receives the events of a subscription, `useCursorListPaging` stores which part of
 * a list is shown.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import {
  type LiveSubscriptionConnectionState,
  startLiveSubscription,
} from "#pages/shared/browser/live-subscription.ts";
import {
  toGraphqlRequestError,
  sendGraphqlRequest,
  basePath,
  consoleHeaders,
  type GraphqlRequestError,
  type GraphqlRequestOptions,
  reloadPageToShowSignIn,
} from "./client.ts";
import type { ConsoleGraphqlDocument } from "./documents.ts";

export type { LiveSubscriptionConnectionState };

/**
 * Receives the events of a GraphQL subscription; does nothing while `variables` is undefined. The first event
 * after each connection contains the current state, and `onData` is called with `isFirst` true. Every later
 * event is a change.
 */
export function useGraphqlSubscription<Result, Variables extends object>(
  document: ConsoleGraphqlDocument<Result, Variables>,
  variables: Variables | undefined,
  onData: (data: Result, isFirst: boolean) => void,
): LiveSubscriptionConnectionState {
  const [state, setState] = useState<LiveSubscriptionConnectionState>("connecting");
  const latest = useRef(onData);
  latest.current = onData;
  const key = JSON.stringify(variables);
  useEffect(() => {
    if (variables === undefined) return undefined;
    const stopping = new AbortController();
    const { signal } = stopping;
    let isFirst = true;
    startLiveSubscription<Result>({
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
        if (status === 401) reloadPageToShowSignIn();
      },
    });
    return () => stopping.abort();
  }, [document, key]);
  return state;
}

/** The state of a GraphQL query. A repeated query keeps its previous data visible until the new data arrives. */
export interface GraphqlQueryState<Result> {
  readonly data: Result | undefined;
  readonly failure: GraphqlRequestError | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
  /**
   * Loads the data of the query again as a background request, which does not extend the session. For reloads
   * after an event or a timer, not after an action of the staff member.
   */
  readonly refresh: () => void;
}

const byPerson: GraphqlRequestOptions = { isBackground: false };

interface State<Result> {
  readonly key: string;
  readonly data?: Result;
  readonly failure?: GraphqlRequestError;
  readonly isLoading: boolean;
}

export function useGraphqlQuery<Result, Variables extends object>(
  document: ConsoleGraphqlDocument<Result, Variables>,
  variables: Variables,
): GraphqlQueryState<Result> {
  const key = JSON.stringify([document, variables]);
  const [state, setState] = useState<State<Result>>({ key, isLoading: true });
  const latest = useRef(0);

  const load = useCallback(
    (manner: GraphqlRequestOptions) => {
      const turn = ++latest.current;
      setState((before) =>
        before.key === key && before.data !== undefined
          ? { key, data: before.data, isLoading: true }
          : { key, isLoading: true },
      );
      sendGraphqlRequest(document, variables, manner).then(
        (data) => turn === latest.current && setState({ key, data, isLoading: false }),
        (error: unknown) => {
          if (turn !== latest.current) return;
          setState((before) => ({
            ...(before.key === key ? before : {}),
            key,
            failure: toGraphqlRequestError(error),
            isLoading: false,
          }));
        },
      );
      // Only a changed GraphQL document or changed variables send the query again.
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

/** The state of a GraphQL mutation, and the function that sends the mutation. */
interface MutationState<Result, Variables> {
  readonly isBusy: boolean;
  readonly failure: GraphqlRequestError | undefined;
  /** Runs the mutation. Returns undefined if it failed. */
  readonly run: (variables: Variables) => Promise<Result | undefined>;
  readonly forget: () => void;
}

export interface GraphqlVariablesWithIdempotencyKey {
  readonly idempotencyKey: string;
}

/**
 * Returns a function that sends a GraphQL mutation with an idempotency key. After a failed request, the same
 * variables are sent with the same key, because the failed request may have succeeded without its answer
 * arriving.
 */
export function useGraphqlMutation<Result, Variables extends object>(
  document: ConsoleGraphqlDocument<Result, Variables & GraphqlVariablesWithIdempotencyKey>,
): MutationState<Result, Variables> {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<GraphqlRequestError>();
  const intent = useRef<{ readonly text: string; readonly key: string } | undefined>(undefined);

  const run = useCallback(
    async (variables: Variables) => {
      const text = JSON.stringify(variables);
      if (intent.current?.text !== text) intent.current = { text, key: crypto.randomUUID() };
      setBusy(true);
      setFailure(undefined);
      try {
        const result = await sendGraphqlRequest(document, {
          ...variables,
          idempotencyKey: intent.current.key,
        });
        intent.current = undefined;
        return result;
      } catch (error) {
        setFailure(toGraphqlRequestError(error));
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
 * The state of paging through a list with GraphQL cursors: the shown part of the list, and functions that
 * show the next older or newer part.
 */
export interface CursorPaginationState {
  /** The GraphQL cursor at which the shown part of the list begins; null if the newest items are shown. */
  readonly cursor: string | null;
  readonly number: number;
  readonly older: (cursor: string) => void;
  readonly newer: () => void;
}

/**
 * Stores which part of a list is shown. `what` is the list's name and filter as one text. A new text shows
 * the newest items again.
 */
export function useCursorListPaging(what = ""): CursorPaginationState {
  const [state, setState] = useState<{ what: string; cursors: readonly string[] }>({ what, cursors: [] });
  const cursors = state.what === what ? state.cursors : [];
  return {
    cursor: cursors.at(-1) ?? null,
    number: cursors.length + 1,
    older: (cursor) => setState({ what, cursors: [...cursors, cursor] }),
    newer: () => setState({ what, cursors: cursors.slice(0, -1) }),
  };
}
