/**
 * A list of the properties of a cart: its status, buyer, masked address (most characters hidden), checkout,
 * order and times.
 */
import type { JSX } from "preact";
import { ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { formatEnumValue, StatusBadge, FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import { DescriptionListRow } from "#pages/console/browser/parts/tables.tsx";
import type { ConsoleCart, ConsoleCartAddress } from "./cart-documents.ts";
import { formatCartBuyer } from "./carts-page.tsx";

export function CartDetails({ cart }: { readonly cart: ConsoleCart }): JSX.Element {
  const { address, delivery, checkout } = cart;
  const option = delivery?.options.find((one) => one.id === delivery.selectedOptionId);
  return (
    <dl class="facts">
      <DescriptionListRow name="Status">
        <StatusBadge value={cart.status} />
        <RevocationText revocation={cart.revocation} />
      </DescriptionListRow>
      <DescriptionListRow name="Buyer">{formatCartBuyer(cart.buyer)}</DescriptionListRow>
      <DescriptionListRow name="Country and language">
        {cart.market}, {cart.locale}
      </DescriptionListRow>
      <DescriptionListRow name="Address">
        {address === null ? <span class="soft">none</span> : <AddressText address={address} />}
      </DescriptionListRow>
      <DescriptionListRow name="Delivery">
        {option?.name ?? <span class="soft">not selected</span>}
      </DescriptionListRow>
      <DescriptionListRow name="Checkout">
        {checkout === null ? (
          <span class="soft">not started</span>
        ) : (
          <>
            <StatusBadge value={checkout.status} /> <code>{checkout.sessionId}</code>
          </>
        )}
      </DescriptionListRow>
      <SuccessorRows cart={cart} />
      <TimeRows cart={cart} />
      <DescriptionListRow name="Id">
        <code>{cart.id}</code>
      </DescriptionListRow>
    </dl>
  );
}

function RevocationText({ revocation }: Pick<ConsoleCart, "revocation">): JSX.Element | null {
  if (revocation === null) return null;
  const { reason, note, at } = revocation;
  return (
    <p class="small">
      {formatEnumValue(reason)}, <FormattedTime at={at} />
      {note === null || note === "" ? null : <>: “{note}”</>}
    </p>
  );
}

/** Links to the order that was placed with the cart, or to the cart into which the cart was merged. */
const SuccessorRows = ({
  cart: { orderId, mergedIntoCartId },
}: {
  readonly cart: ConsoleCart;
}): JSX.Element => (
  <>
    {orderId === null ? null : (
      <DescriptionListRow name="Order">
        <ConsoleLink to={`/orders/${orderId}`}>
          <code>{orderId}</code>
        </ConsoleLink>
      </DescriptionListRow>
    )}
    {mergedIntoCartId === null ? null : (
      <DescriptionListRow name="Merged into">
        <ConsoleLink to={`/carts/${mergedIntoCartId}`}>
          <code>{mergedIntoCartId}</code>
        </ConsoleLink>
      </DescriptionListRow>
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
      <DescriptionListRow name="Created">
        <FormattedTime at={cart.createdAt} />
      </DescriptionListRow>
      <DescriptionListRow name="Last change">
        <FormattedTime at={cart.updatedAt} />
      </DescriptionListRow>
      {expiryName === undefined ? null : (
        <DescriptionListRow name={expiryName}>
          <FormattedTime at={cart.expiresAt} />
        </DescriptionListRow>
      )}
    </>
  );
}

/**
 * The address of a cart in its masked form: without the street, and with only a part of the name and of the
 * postal code. Staff members may not see the complete address.
 */
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
