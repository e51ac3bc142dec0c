/**
 * The dialog that asks the reader for a token, and the button that shows the role and merchant of the current
 * token.
 */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { GraphiqlTokenDialogData } from "./page-data.ts";
import type { CredentialRoleAndMerchant, GraphiqlTokenManager } from "./token-keeper.ts";

interface Kept {
  readonly keeper: GraphiqlTokenManager;
}

interface TokenDialogProps extends Kept {
  readonly data: GraphiqlTokenDialogData;
}

/**
 * Renders the calling component again when the stored token, the role of the token, or the message in the
 * token dialog changes.
 */
export function useRerenderOnTokenChange(keeper: GraphiqlTokenManager): void {
  const [, setTurn] = useState(0);
  useLayoutEffect(() => keeper.onChange(() => setTurn((turn) => turn + 1)), [keeper]);
}

export function GraphiqlTokenButton({ keeper }: Kept): JSX.Element {
  useRerenderOnTokenChange(keeper);
  return (
    <button type="button" class="tool" aria-haspopup="dialog" onClick={() => keeper.change()}>
      Token… <span class="holder">{nameOf(keeper.holder)}</span>
    </button>
  );
}

function nameOf(holder: CredentialRoleAndMerchant | undefined): string {
  if (holder === undefined) return "none";
  const { role, isConsoleSession, merchant } = holder;
  return `${isConsoleSession ? "console session" : role}, ${merchant ?? "whole platform"}`;
}

export function GraphiqlTokenDialog({ keeper, data }: TokenDialogProps): JSX.Element | null {
  useRerenderOnTokenChange(keeper);
  return keeper.question === undefined ? null : <OpenDialog keeper={keeper} data={data} />;
}

function OpenDialog({ keeper, data }: TokenDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    dialog.current?.showModal();
    input.current?.focus();
  }, []);
  const enter = async (action: Promise<void>): Promise<void> => {
    setBusy(true);
    await action;
    setBusy(false);
    input.current?.select();
  };
  const give = (event: Event): void => {
    event.preventDefault();
    const token = input.current?.value.trim() ?? "";
    if (token !== "" && !isBusy) void enter(keeper.give(token));
  };
  const { message, isFault } = keeper.question ?? { message: "", isFault: false };
  return (
    <dialog ref={dialog} id="token-dialog" aria-labelledby="token-title" onClose={() => keeper.dismiss()}>
      <form onSubmit={give}>
        <h1 id="token-title">Internal token</h1>
        <p id="token-help" class={isFault ? "fault" : undefined} role={isFault ? "alert" : undefined}>
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
        <p class="soft">The token is stored for this tab only and sent to this service only.</p>
      </form>
      <OtherSources data={data} isBusy={isBusy} onUse={(action) => void enter(action(keeper))} />
      <TokenHelp docs={data.docs} />
    </dialog>
  );
}

interface OtherSourcesProps {
  readonly data: GraphiqlTokenDialogData;
  readonly isBusy: boolean;
  readonly onUse: (action: (keeper: GraphiqlTokenManager) => Promise<void>) => void;
}

/**
 * Shows buttons with which the reader can send queries without typing a token: with a token of the demo, or
 * with the session in the merchants' console.
 */
function OtherSources({
  data: { demoTokens, console: consoleUrl },
  isBusy,
  onUse,
}: OtherSourcesProps): JSX.Element {
  return (
    <>
      {demoTokens === undefined ? null : (
        <section>
          <h2>This is a demo: choose a role</h2>
          <div class="choices">
            {Object.entries(demoTokens).map(([role, token]) => (
              <button
                key={role}
                type="button"
                class="second"
                disabled={isBusy}
                onClick={() => onUse((keeper) => keeper.give(token))}
              >
                {role}
              </button>
            ))}
          </div>
        </section>
      )}
      <section>
        <h2>Signed in to the console?</h2>
        <p>
          Then you need no token: your queries run as admin of your merchant. Otherwise{" "}
          <a href={consoleUrl}>sign in to the console</a> first.
        </p>
        <div class="choices">
          <button
            type="button"
            class="second"
            disabled={isBusy}
            onClick={() => onUse((keeper) => keeper.useConsoleSession())}
          >
            Use my console session
          </button>
        </div>
      </section>
    </>
  );
}

const rolePurposes: Readonly<Record<string, string>> = {
  analyst: "Reports and records without personal data. Changes nothing.",
  admin: "Everything of one merchant: products, orders, keys and staff.",
  storefront: "Products, and the carts and checkouts of a buyer.",
  operator: "All merchants of the platform.",
};

function TokenHelp({ docs }: { readonly docs: string }): JSX.Element {
  return (
    <section>
      <h2>Which token for what</h2>
      <dl class="roles">
        {Object.entries(rolePurposes).map(([role, purpose]) => (
          <div key={role}>
            <dt>{role}</dt>
            <dd>{purpose}</dd>
          </div>
        ))}
      </dl>
      <p>
        The people who run the service create tokens with <code>npm run commerce -- token create</code>. The
        guide <a href={`${docs}/guides/graphql`}>GraphQL</a> explains the roles.
      </p>
    </section>
  );
}
