/** Follows a subscription for as long as a part of the page is there. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type LiveState, subscribe } from "#pages/shared/browser/live.ts";
import { basePath, consoleHeaders, signInAgain } from "./client.ts";
import type { Document } from "./document.ts";

export type { LiveState };

/**
 * `variables`: undefined while it is not known yet what is followed. `onData` is told whether an event is the first of its stream, which is the present
 * state and not a change.
 */
export function useLive<Result, Variables extends object>(
  document: Document<Result, Variables>,
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
    subscribe<Result>({
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
        if (status === 401) signInAgain();
      },
    });
    return () => stopping.abort();
  }, [document, key]);
  return state;
}
