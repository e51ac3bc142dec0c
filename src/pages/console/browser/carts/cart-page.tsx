/** The page of one cart: its items and totals, and which apps and staff members have changed the cart. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { AuditEntryList, emptyAuditFilter } from "#pages/console/browser/audit/audit-list.tsx";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { ConsoleLink, PageHeading } from "#pages/console/browser/navigation.tsx";
import { EmptyListNote, QueryResultOrLoadingNote } from "#pages/console/browser/parts/tables.tsx";
import { CancelCheckoutDialog, RevokeCartDialog } from "./cart-dialogs.tsx";
import { type ConsoleCart, cartDocument } from "./cart-documents.ts";
import { CartDetails } from "./cart-facts.tsx";
import { CartLineList, CartTotalsList, CartWarningList } from "./cart-parts.tsx";

export function CartPage({ id }: { readonly id: string }): JSX.Element {
  const query = useGraphqlQuery(cartDocument, { id });
  const cart = query.data?.cart;
  return (
    <>
      <p class="trail">
        <ConsoleLink to="/carts">Carts</ConsoleLink>
      </p>
      <PageHeading title="Cart">
        {cart ? <CartActions cart={cart} onChanged={query.reload} /> : undefined}
      </PageHeading>
      <QueryResultOrLoadingNote query={query} what="the cart">
        {(data) =>
          data.cart === null ? (
            <EmptyListNote>
              Your shop has no cart with the id <code>{id}</code>, or it ended more than 90 days ago.{" "}
              <ConsoleLink to="/carts">Show recent carts</ConsoleLink>
            </EmptyListNote>
          ) : (
            <CartParts cart={data.cart} />
          )
        }
      </QueryResultOrLoadingNote>
    </>
  );
}

function CartActions({ cart, onChanged }: { readonly cart: ConsoleCart; readonly onChanged: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const { status, checkout } = cart;
  const shown = { onChanged, onClose: () => setOpen(false) };
  if (status === "LOCKED" && checkout?.status === "OPEN")
    return (
      <>
        <button type="button" class="second danger" onClick={() => setOpen(true)}>
          Cancel the checkout
        </button>
        {isOpen ? <CancelCheckoutDialog sessionId={checkout.sessionId} {...shown} /> : null}
      </>
    );
  if (status !== "ACTIVE") return null;
  return (
    <>
      <button type="button" class="second danger" onClick={() => setOpen(true)}>
        Revoke the cart
      </button>
      {isOpen ? <RevokeCartDialog cart={cart} {...shown} /> : null}
    </>
  );
}

function CartParts({ cart }: { readonly cart: ConsoleCart }): JSX.Element {
  const { id, version } = cart;
  return (
    <>
      <CartDetails cart={cart} />
      <CartWarningList warnings={cart.warnings} lines={cart.lines} />
      <section aria-labelledby="lines">
        <h2 id="lines">Items</h2>
        <CartLineList lines={cart.lines} />
        <CartTotalsList totals={cart.totals} promotion={cart.promotion} />
      </section>
      <section aria-labelledby="changes">
        <h2 id="changes">Changes by apps and staff</h2>
        <p class="soft">
          This is version {version} of the cart: every change, also of the buyer, raised the version by one.
          Changes of the buyer are not listed one by one.
        </p>
        <AuditEntryList
          key={version}
          filter={{ ...emptyAuditFilter, targetId: id }}
          isOfTarget
          empty="No app and no staff member has changed this cart."
        />
        {cart.checkout === null ? null : (
          <p>
            <ConsoleLink to={`/audit?target=${cart.checkout.sessionId}`}>Changes of its checkout</ConsoleLink>
          </p>
        )}
      </section>
    </>
  );
}
