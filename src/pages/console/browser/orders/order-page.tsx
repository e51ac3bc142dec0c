/**
 * The page of one order: its items, payments, shipments, returns and refunds, and what staff and the buyer
 * can still do, for example cancel.
 */
import { Fragment, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { AuditEntryList, emptyAuditFilter } from "#pages/console/browser/audit/audit-list.tsx";
import { toOrderTaxRows } from "./tax-rows.ts";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { ConsoleLink, PageHeading } from "#pages/console/browser/navigation.tsx";
import {
  formatEnumValue,
  formatMoney,
  StatusBadge,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import {
  DescriptionListRow,
  EmptyListNote,
  QueryResultOrLoadingNote,
} from "#pages/console/browser/parts/tables.tsx";
import { CancelOrderDialog, RefundOrderDialog } from "./order-dialogs.tsx";
import { type ConsoleOrder, orderDocument } from "./order-documents.ts";
import { OrderEligibilitySection } from "./order-eligibility.tsx";
import {
  OrderFulfillmentTable,
  OrderLineList,
  OrderPaymentTable,
  OrderRefundTable,
  OrderReturnsTable,
} from "./order-parts.tsx";
import { getRefundableAmount } from "./refundable-amount.ts";
import "./orders.css";

/** Milliseconds between two requests for an order while a refund of the order is pending. */
const refreshMs = 2_000;

export function OrderPage({ id }: { readonly id: string }): JSX.Element {
  const query = useGraphqlQuery(orderDocument, { id });
  const order = query.data?.order;
  const isWaiting = order?.refunds.some(({ status }) => status === "PENDING") === true;
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(query.refresh, refreshMs);
    return () => clearInterval(timer);
  }, [isWaiting, query.refresh]);
  return (
    <>
      <p class="trail">
        <ConsoleLink to="/orders">Orders</ConsoleLink>
      </p>
      <PageHeading title={order ? `Order ${order.number}` : "Order"}>
        {order ? <OrderActions order={order} onChanged={query.reload} /> : undefined}
      </PageHeading>
      <QueryResultOrLoadingNote query={query} what="the order">
        {(data) =>
          data.order === null ? (
            <EmptyListNote>
              Your shop has no order with the id <code>{id}</code>.{" "}
              <ConsoleLink to="/orders">Show recent orders</ConsoleLink>
            </EmptyListNote>
          ) : (
            <OrderContent order={data.order} />
          )
        }
      </QueryResultOrLoadingNote>
    </>
  );
}

interface OrderActionsProps {
  readonly order: ConsoleOrder;
  readonly onChanged: () => void;
}

function OrderActions({ order, onChanged }: OrderActionsProps): JSX.Element {
  const [open, setOpen] = useState<"cancel" | "refund">();
  const shown = { order, onChanged, onClose: () => setOpen(undefined) };
  const canCancel = order.cancellationEligibility.decision !== "DENIED";
  return (
    <>
      {getRefundableAmount(order) > 0 ? (
        <button type="button" class="second" onClick={() => setOpen("refund")}>
          Refund
        </button>
      ) : null}
      {canCancel ? (
        <button type="button" class="second danger" onClick={() => setOpen("cancel")}>
          Cancel the order
        </button>
      ) : null}
      {open === "cancel" ? <CancelOrderDialog {...shown} /> : null}
      {open === "refund" ? <RefundOrderDialog {...shown} /> : null}
    </>
  );
}

const OrderContent = ({ order }: { readonly order: ConsoleOrder }): JSX.Element => (
  <>
    <OrderFacts order={order} />
    <section aria-labelledby="lines">
      <h2 id="lines">Items</h2>
      <OrderLineList lines={order.lines} />
      <OrderTotalsList totals={order.totals} taxLines={order.taxLines} />
    </section>
    <OrderPaymentTable payments={order.payments} />
    <OrderFulfillmentTable fulfillments={order.fulfillments} lines={order.lines} />
    <OrderReturnsTable returns={order.returns} lines={order.lines} />
    <OrderRefundTable refunds={order.refunds} />
    <OrderEligibilitySection order={order} />
    <section aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol class="timeline">
        {order.timeline.map(({ at, type, actor }, index) => (
          <li key={`${index} ${type}`}>
            <strong>{formatEnumValue(type)}</strong>, by the{" "}
            {actorNames[actor] ?? formatEnumValue(actor).toLowerCase()}
            <br />
            <span class="soft small">
              <FormattedTime at={at} />
            </span>
          </li>
        ))}
      </ol>
    </section>
    <section aria-labelledby="changes">
      <h2 id="changes">Changes by apps and staff</h2>
      <AuditEntryList
        key={order.version}
        filter={{ ...emptyAuditFilter, targetId: order.id }}
        isOfTarget
        empty="No app and no staff member has changed this order."
      />
    </section>
  </>
);

const actorNames: Readonly<Record<string, string>> = {
  BUYER: "buyer",
  MERCHANT: "shop",
  SYSTEM: "service",
};

function OrderFacts({ order }: { readonly order: ConsoleOrder }): JSX.Element {
  const { buyer, buyerReference, deliveryAddress, delivery, cancellation, holdReason, cartId } = order;
  return (
    <dl class="facts">
      <DescriptionListRow name="Status">
        <StatusBadge value={order.status} /> {holdReason}
        {cancellation === null ? null : (
          <p class="small">
            {formatEnumValue(cancellation.reason)}, <FormattedTime at={cancellation.at} />
            {cancellation.note === null ? null : <>: “{cancellation.note}”</>}
          </p>
        )}
      </DescriptionListRow>
      <DescriptionListRow name="Payment">
        <StatusBadge value={order.paymentStatus} />
      </DescriptionListRow>
      <DescriptionListRow name="Delivery">
        {formatEnumValue(order.fulfillmentStatus)}
        {delivery === null ? null : `, ${delivery.name}`}
      </DescriptionListRow>
      <DescriptionListRow name="Buyer">
        {buyer.guest ? "Guest" : (buyerReference ?? "Known buyer")}
        {buyer.emailHint === null ? null : `, ${buyer.emailHint}`}
      </DescriptionListRow>
      <DescriptionListRow name="Country and language">
        {order.market}, {order.locale}
      </DescriptionListRow>
      <DescriptionListRow name="Address">
        {deliveryAddress === null ? (
          <span class="soft">none</span>
        ) : (
          <AddressText address={deliveryAddress} />
        )}
      </DescriptionListRow>
      {cartId === null ? null : (
        <DescriptionListRow name="Cart">
          <ConsoleLink to={`/carts/${cartId}`}>
            <code>{cartId}</code>
          </ConsoleLink>
        </DescriptionListRow>
      )}
      <DescriptionListRow name="Placed">
        <FormattedTime at={order.placedAt} />
      </DescriptionListRow>
      <DescriptionListRow name="Last change">
        <FormattedTime at={order.updatedAt} />
      </DescriptionListRow>
      <DescriptionListRow name="Id">
        <code>{order.id}</code>
      </DescriptionListRow>
    </dl>
  );
}

function AddressText({ address }: { readonly address: NonNullable<ConsoleOrder["deliveryAddress"]> }) {
  const { recipientInitials, postalCodePrefix, city, countryCode } = address;
  const place = [postalCodePrefix === null ? null : `${postalCodePrefix}…`, city].filter(Boolean).join(" ");
  return (
    <>
      {[recipientInitials, place === "" ? null : place, countryCode]
        .filter((part) => part !== null)
        .join(", ")}
      <p class="soft small">Street and full name are hidden here.</p>
    </>
  );
}

function OrderTotalsList({ totals, taxLines }: Pick<ConsoleOrder, "totals" | "taxLines">): JSX.Element {
  const { subtotal, discount, shipping, tax, taxIncluded, total, refunded, outstanding } = totals;
  return (
    <dl class="totals">
      <dt>Subtotal</dt>
      <dd>{formatMoney(subtotal)}</dd>
      {discount.amountMinor === 0 ? null : (
        <>
          <dt>Discount</dt>
          <dd>−{formatMoney(discount)}</dd>
        </>
      )}
      <dt>Shipping</dt>
      <dd>{shipping === null ? "–" : formatMoney(shipping)}</dd>
      <dt>Tax{taxIncluded ? ", included in the prices" : ""}</dt>
      <dd>{tax === null ? "–" : formatMoney(tax)}</dd>
      {toOrderTaxRows(taxLines).map(({ label, tax: ofRate }) => (
        <Fragment key={label}>
          <dt class="soft">{label}</dt>
          <dd class="soft">{formatMoney(ofRate)}</dd>
        </Fragment>
      ))}
      <dt class="sum">Total</dt>
      <dd class="sum">{formatMoney(total)}</dd>
      {refunded.amountMinor === 0 ? null : (
        <>
          <dt>Refunded</dt>
          <dd>−{formatMoney(refunded)}</dd>
        </>
      )}
      {outstanding.amountMinor === 0 ? null : (
        <>
          <dt>{outstanding.amountMinor > 0 ? "Not paid yet" : "Still to be refunded"}</dt>
          <dd>{formatMoney({ ...outstanding, amountMinor: Math.abs(outstanding.amountMinor) })}</dd>
        </>
      )}
    </dl>
  );
}
