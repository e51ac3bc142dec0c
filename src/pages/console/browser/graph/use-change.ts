/** Changes something through the graph: once for each intent, however often it is sent. */
import { useCallback, useRef, useState } from "preact/hooks";
import { asFailure, ask, type GraphFailure } from "./client.ts";
import type { Document } from "./document.ts";

export interface Change<Result, Variables> {
  readonly isBusy: boolean;
  readonly failure: GraphFailure | undefined;
  /** Undefined where it failed. */
  readonly run: (variables: Variables) => Promise<Result | undefined>;
  readonly forget: () => void;
}

export interface Keyed {
  readonly idempotencyKey: string;
}

/** The same thing asked again after a failure has the same key: it may have happened. */
export function useChange<Result, Variables extends object>(document: Document<Result, Variables & Keyed>): Change<Result, Variables> {
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
        const result = await ask(document, { ...variables, idempotencyKey: intent.current.key });
        intent.current = undefined;
        return result;
      } catch (error) {
        setFailure(asFailure(error));
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
