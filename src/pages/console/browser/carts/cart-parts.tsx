/** Parts of the cart page: the warnings, the table of items, and the totals with the promotions. */
import { Fragment, type JSX } from "preact";
import { formatEnumValue, formatMoney, StatusBadge } from "#pages/console/browser/parts/formats.tsx";
import { DataTable, EmptyListNote, type DataTableColumn } from "#pages/console/browser/parts/tables.tsx";
import type {
  ConsoleCart,
  ConsoleCartLine,
  ConsoleCartPromotions,
  ConsoleCartTotals,
} from "./cart-documents.ts";

/**
 * Notes beside cart lines of which fewer units are available than the cart contains, by the availability of
 * the variant.
 */
const stockNotes: Readonly<Record<string, string>> = {
  OUT_OF_STOCK: "Out of stock",
  DISCONTINUED: "No longer sold",
};

const columns: DataTableColumn<ConsoleCartLine>[] = [
  {
    title: "Item",
    cell: ({ title, variantTitle, sku }) => (
      <>
        <strong>{title}</strong>
        <br />
        <span class="soft small">
          {variantTitle === null ? null : `${variantTitle}, `}
          {sku}
        </span>
      </>
    ),
  },
  {
    title: "Stock",
    cell: ({ availability, availableQuantity, quantity }) => {
      const note = stockNotes[availability];
      if (note !== undefined) return <StatusBadge value={availability} tone="fault" text={note} />;
      return availableQuantity !== null && availableQuantity < quantity ? (
        <StatusBadge value="LOW" tone="warn" text={`Only ${availableQuantity} left`} />
      ) : (
        formatEnumValue(availability)
      );
    },
  },
  { title: "Quantity", isNumber: true, cell: ({ quantity }) => quantity.toLocaleString() },
  {
    title: "Price",
    isNumber: true,
    cell: ({ unitPrice, compareAtUnitPrice }) => (
      <>
        {compareAtUnitPrice === null ? null : (
          <>
            <s class="soft" aria-label={`Former price ${formatMoney(compareAtUnitPrice)}`}>
              {formatMoney(compareAtUnitPrice)}
            </s>{" "}
          </>
        )}
        {formatMoney(unitPrice)}
      </>
    ),
  },
  {
    title: "Discount",
    isNumber: true,
    cell: ({ discount }) =>
      discount.amountMinor === 0 ? <span class="soft">–</span> : `−${formatMoney(discount)}`,
  },
  { title: "Total", isNumber: true, cell: ({ total }) => formatMoney(total) },
];

export const CartLineList = ({ lines }: { readonly lines: readonly ConsoleCartLine[] }): JSX.Element => (
  <div class="loaded">
    {lines.length === 0 ? (
      <EmptyListNote>The cart is empty.</EmptyListNote>
    ) : (
      <DataTable caption="Items of the cart" columns={columns} rows={lines} keyOf={({ id }) => id} />
    )}
  </div>
);

interface TotalsProps {
  readonly totals: ConsoleCartTotals;
  readonly promotion: ConsoleCartPromotions;
}

/** The totals of a cart as a list: subtotal, each promotion, shipping, tax, total. */
export function CartTotalsList({ totals, promotion }: TotalsProps): JSX.Element {
  const { subtotal, shipping, tax, taxIncluded, total, estimated } = totals;
  const unknown = <span class="soft">not known yet</span>;
  return (
    <dl class="totals">
      <dt>Subtotal</dt>
      <dd>{formatMoney(subtotal)}</dd>
      <PromotionRows promotion={promotion} />
      <dt>Shipping</dt>
      <dd>{shipping === null ? unknown : formatMoney(shipping)}</dd>
      <dt>Tax{taxIncluded ? ", included in the prices" : ""}</dt>
      <dd>{tax === null ? unknown : formatMoney(tax)}</dd>
      <dt class="sum">{estimated ? "Total so far" : "Total"}</dt>
      <dd class="sum">{formatMoney(total)}</dd>
    </dl>
  );
}

function PromotionRows({ promotion }: Pick<TotalsProps, "promotion">): JSX.Element {
  const { promotion: coded, state, suspendedReason, discount, automatic } = promotion;
  return (
    <>
      {coded === null ? null : (
        <>
          <dt>
            Code <code>{coded.code}</code> ({coded.title})
            {state === "SUSPENDED" ? (
              <p class="small">
                <StatusBadge value="SUSPENDED" text="Does not apply now" />{" "}
                {suspendedReason === null ? null : formatEnumValue(suspendedReason)}
              </p>
            ) : null}
          </dt>
          <dd>{discount.amountMinor === 0 ? formatMoney(discount) : `−${formatMoney(discount)}`}</dd>
        </>
      )}
      {automatic.map(({ id, title, discount: reduction }) => (
        <Fragment key={id}>
          <dt>{title} (automatic)</dt>
          <dd>−{formatMoney(reduction)}</dd>
        </Fragment>
      ))}
    </>
  );
}

/** Shows the warnings of a cart, which are about changes that no caller requested, for example of a price. */
export function CartWarningList({
  warnings,
  lines,
}: Pick<ConsoleCart, "warnings" | "lines">): JSX.Element | null {
  if (warnings.length === 0) return null;
  return (
    <section aria-labelledby="warnings">
      <h2 id="warnings">What the buyer is warned about</h2>
      <ul class="checks">
        {warnings.map(({ code, lineId, message }) => (
          <li key={`${code} ${lineId}`}>
            <StatusBadge value={code} tone="warn" />
            <div>
              {lines.find(({ id }) => id === lineId)?.title}
              <p>{message}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
