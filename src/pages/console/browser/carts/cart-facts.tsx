/** A list of the properties of a cart: its status, buyer, masked address, checkout, order and times. */
import type { JSX } from "preact";
import { ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { enumLabel, StatusBadge, TimeText } from "#pages/console/browser/parts/formats.tsx";
import { DescriptionRow } from "#pages/console/browser/parts/tables.tsx";
import type { ConsoleCart, ConsoleCartAddress } from "./cart-documents.ts";
import { cartBuyerText } from "./carts-page.tsx";

export function CartFacts({ cart }: { readonly cart: ConsoleCart }): JSX.Element {
  const { address, delivery, checkout } = cart;
  const option = delivery?.options.find((one) => one.id === delivery.selectedOptionId);
  return (
    <dl class="facts">
      <DescriptionRow name="Status">
        <StatusBadge value={cart.status} />
        <RevocationText revocation={cart.revocation} />
      </DescriptionRow>
      <DescriptionRow name="Buyer">{cartBuyerText(cart.buyer)}</DescriptionRow>
      <DescriptionRow name="Country and language">
        {cart.market}, {cart.locale}
      </DescriptionRow>
      <DescriptionRow name="Address">
        {address === null ? <span class="soft">none</span> : <AddressText address={address} />}
      </DescriptionRow>
      <DescriptionRow name="Delivery">
        {option?.name ?? <span class="soft">not selected</span>}
      </DescriptionRow>
      <DescriptionRow name="Checkout">
        {checkout === null ? (
          <span class="soft">not started</span>
        ) : (
          <>
            <StatusBadge value={checkout.status} /> <code>{checkout.sessionId}</code>
          </>
        )}
      </DescriptionRow>
      <SuccessorRows cart={cart} />
      <TimeRows cart={cart} />
      <DescriptionRow name="Id">
        <code>{cart.id}</code>
      </DescriptionRow>
    </dl>
  );
}

function RevocationText({ revocation }: Pick<ConsoleCart, "revocation">): JSX.Element | null {
  if (revocation === null) return null;
  const { reason, note, at } = revocation;
  return (
    <p class="small">
      {enumLabel(reason)}, <TimeText at={at} />
      {note === null || note === "" ? null : <>: “{note}”</>}
    </p>
  );
}

/**
 * Links from a cart that is no longer active to the order that was placed with it, or to the other cart into
 * which it was merged.
 */
const SuccessorRows = ({
  cart: { orderId, mergedIntoCartId },
}: {
  readonly cart: ConsoleCart;
}): JSX.Element => (
  <>
    {orderId === null ? null : (
      <DescriptionRow name="Order">
        <ConsoleLink to={`/orders/${orderId}`}>
          <code>{orderId}</code>
        </ConsoleLink>
      </DescriptionRow>
    )}
    {mergedIntoCartId === null ? null : (
      <DescriptionRow name="Merged into">
        <ConsoleLink to={`/carts/${mergedIntoCartId}`}>
          <code>{mergedIntoCartId}</code>
        </ConsoleLink>
      </DescriptionRow>
    )}
  </>
);

const expiryNames: Partial<Readonly<Record<ConsoleCart["status"], string>>> = {
  ACTIVE: "Expires",
  LOCKED: "Expires",
  EXPIRED: "Expired",
};

function TimeRows({ cart }: { readonly cart: ConsoleCart }): JSX.Element {
  const expiryName = expiryNames[cart.status];
  return (
    <>
      <DescriptionRow name="Created">
        <TimeText at={cart.createdAt} />
      </DescriptionRow>
      <DescriptionRow name="Last change">
        <TimeText at={cart.updatedAt} />
      </DescriptionRow>
      {expiryName === undefined ? null : (
        <DescriptionRow name={expiryName}>
          <TimeText at={cart.expiresAt} />
        </DescriptionRow>
      )}
    </>
  );
}

/** The masked address of a cart: staff members see neither the street nor the complete name and postal code. */
function AddressText({ address }: { readonly address: ConsoleCartAddress }): JSX.Element {
  const { recipientInitials, postalCodePrefix, city, regionCode, countryCode, complete } = address;
  const place = [postalCodePrefix === null ? null : `${postalCodePrefix}…`, city].filter(Boolean).join(" ");
  const parts = [recipientInitials, place === "" ? null : place, regionCode, countryCode];
  return (
    <>
      {parts.filter((part) => part !== null).join(", ")}
      <p class="soft small">
        {complete ? "Complete." : "Fields are missing."} Street and full name are hidden here.
      </p>
    </>
  );
}
