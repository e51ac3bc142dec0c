/** The dialog that asks for the token, and the button that shows the role and merchant of the token in use. */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TokenHolder, TokenKeeper } from "./token-keeper.ts";

interface Kept {
  readonly keeper: TokenKeeper;
}

/** Renders the component again when the token's state changes. */
export function useTokenKeeper(keeper: TokenKeeper): void {
  const [, setTurn] = useState(0);
  useLayoutEffect(() => keeper.onChange(() => setTurn((turn) => turn + 1)), [keeper]);
}

export function TokenButton({ keeper }: Kept): JSX.Element {
  useTokenKeeper(keeper);
  return (
    <button type="button" class="tool" aria-haspopup="dialog" onClick={() => keeper.change()}>
      Token… <span class="holder">{nameOf(keeper.holder)}</span>
    </button>
  );
}

function nameOf(holder: TokenHolder | undefined): string {
  if (holder === undefined) return "none";
  return `${holder.role}, ${holder.merchant ?? "whole platform"}`;
}

export function TokenDialog({ keeper }: Kept): JSX.Element | null {
  useTokenKeeper(keeper);
  return keeper.question === undefined ? null : <OpenDialog keeper={keeper} />;
}

function OpenDialog({ keeper }: Kept): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const give = async (event: Event): Promise<void> => {
    event.preventDefault();
    const token = input.current?.value.trim() ?? "";
    if (token === "" || isBusy) return;
    setBusy(true);
    await keeper.give(token);
    setBusy(false);
    input.current?.select();
  };
  const { message, isFault } = keeper.question ?? { message: "", isFault: false };
  return (
    <dialog ref={dialog} id="token-dialog" aria-labelledby="token-title" onClose={() => keeper.dismiss()}>
      <form onSubmit={(event) => void give(event)}>
        <h1 id="token-title">Internal token</h1>
        <p id="token-help" class={isFault ? "fault" : "soft"} role={isFault ? "alert" : undefined}>
          {message}
        </p>
        <label for="token-input">
          Token <code>cit_…</code>
        </label>
        <input
          ref={input}
          id="token-input"
          type="password"
          autocomplete="off"
          required
          aria-describedby="token-help"
          aria-invalid={isFault ? "true" : undefined}
        />
        <p class="soft">The token is stored for this tab only and sent to this service only.</p>
        <div class="choices">
          <button type="submit" aria-disabled={isBusy}>
            Use it in this tab
          </button>
          {keeper.hasToken ? (
            <button type="button" class="second" onClick={() => keeper.forget()}>
              Forget the current token
            </button>
          ) : null}
          <button type="button" class="second" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}
