/** The page that finds carts: by their id, or in the list of the newest carts with a filter by status. */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import {
  listPageSize,
  getGraphqlConnectionNodesNewestFirst,
  getOlderPageCursor,
} from "#pages/console/browser/graph/documents.ts";
import { useCursorListPaging, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  ConsoleLink,
  type ConsoleLocation,
  navigateToConsolePath,
  PageHeading,
  replaceConsoleUrlInHistory,
} from "#pages/console/browser/navigation.tsx";
import { basePath } from "#pages/console/browser/graph/client.ts";
import {
  formatEnumValue,
  formatMoney,
  StatusBadge,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import {
  DataTable,
  EmptyListNote,
  PaginationButtons,
  QueryResultOrLoadingNote,
  type DataTableColumn,
} from "#pages/console/browser/parts/tables.tsx";
import {
  type CartBuyerIdentity,
  cartsDocument,
  type ConsoleCartStatus,
  cartStates,
  type CartListItem,
} from "./cart-documents.ts";
import "./carts.css";

export function CartsPage({ place }: { readonly place: ConsoleLocation }): JSX.Element {
  const wanted = place.query.get("status")?.toUpperCase();
  const status = cartStates.find((state) => state === wanted) ?? null;
  return (
    <>
      <PageHeading title="Carts" />
      <p class="lead">
        What buyers have put together in your storefront. Carts can be seen here until 90 days after their
        end.
      </p>
      <div class="bar">
        <CartLookup />
        <StatusFilter status={status} />
      </div>
      <CartList status={status} />
    </>
  );
}

/**
 * Returns the cart id that a pasted text contains. The text may be the id alone or, for example, a URL with
 * the id.
 */
export const findCartIdInText = (text: string): string | undefined =>
  /cart_[0-9a-z]{26}/.exec(text.toLowerCase())?.[0];

function CartLookup(): JSX.Element {
  const id = useId();
  const [text, setText] = useState("");
  const [isWrong, setWrong] = useState(false);
  const open = (event: Event): void => {
    event.preventDefault();
    const found = findCartIdInText(text);
    setWrong(found === undefined);
    if (found !== undefined) navigateToConsolePath(`/carts/${found}`);
    else document.getElementById(id)?.focus();
  };
  return (
    <form class="lookup" onSubmit={open} noValidate role="search">
      <label for={id}>Open a cart by its id</label>
      <div class="pick">
        <input
          id={id}
          value={text}
          placeholder="cart_…"
          autocomplete="off"
          spellcheck={false}
          aria-invalid={isWrong}
          aria-describedby={isWrong ? `${id}-fault` : undefined}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button>Open</button>
      </div>
      {isWrong ? (
        <p class="fault" id={`${id}-fault`} role="alert">
          This is not a cart id. It begins with cart_ and has 26 letters and digits after that.
        </p>
      ) : null}
    </form>
  );
}

const showStatus = (value: string): void =>
  replaceConsoleUrlInHistory(value === "" ? "/carts" : `/carts?status=${value.toLowerCase()}`);

function StatusFilter({ status }: { readonly status: ConsoleCartStatus | null }): JSX.Element {
  const id = useId();
  return (
    <div class="pick">
      <label for={id}>Status</label>
      <select id={id} value={status ?? ""} onChange={({ currentTarget }) => showStatus(currentTarget.value)}>
        <option value="">All</option>
        {cartStates.map((state) => (
          <option key={state} value={state}>
            {formatEnumValue(state)}
          </option>
        ))}
      </select>
    </div>
  );
}

/**
 * The buyer of a cart as text: the buyer’s reference, or the e-mail address with most characters hidden
 * (masked).
 */
export function formatCartBuyer({ reference, guest, emailHint }: CartBuyerIdentity): string {
  const name = guest ? "Guest" : (reference ?? "Known buyer");
  return emailHint === null ? name : `${name}, ${emailHint}`;
}

const columns: DataTableColumn<CartListItem>[] = [
  {
    title: "Cart",
    cell: ({ id, buyer }) => (
      <>
        <ConsoleLink to={`/carts/${id}`}>
          <code class="whole">{id}</code>
        </ConsoleLink>
        <br />
        <span class="soft small">{formatCartBuyer(buyer)}</span>
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
  { title: "Items", isNumber: true, cell: ({ totalQuantity }) => totalQuantity.toLocaleString() },
  {
    title: "Code",
    cell: ({ promotion: { promotion } }) =>
      promotion === null ? <span class="soft">–</span> : <code class="whole">{promotion.code}</code>,
  },
  { title: "Total", isNumber: true, cell: ({ totals: { total } }) => formatMoney(total) },
  { title: "Last change", cell: ({ updatedAt }) => <FormattedTime at={updatedAt} isMinute /> },
];

function CartList({ status }: { readonly status: ConsoleCartStatus | null }): JSX.Element {
  const pages = useCursorListPaging(status ?? "");
  const query = useGraphqlQuery(cartsDocument, { status, last: listPageSize, before: pages.cursor });
  return (
    <QueryResultOrLoadingNote query={query} what="carts">
      {({ carts }) => (
        <>
          {carts.edges.length === 0 ? (
            <NoCarts status={status} />
          ) : (
            <DataTable
              caption="Carts, the newest first"
              columns={columns}
              rows={getGraphqlConnectionNodesNewestFirst(carts)}
              keyOf={({ id }) => id}
            />
          )}
          <PaginationButtons pages={pages} what="carts" older={getOlderPageCursor(carts)} />
        </>
      )}
    </QueryResultOrLoadingNote>
  );
}

const NoCarts = ({ status }: { readonly status: ConsoleCartStatus | null }): JSX.Element =>
  status === null ? (
    <EmptyListNote>
      There is no cart yet. A cart appears here as soon as a storefront creates one.{" "}
      <a href={`${basePath}/docs/guides/carts-and-checkout`}>How carts work</a>
    </EmptyListNote>
  ) : (
    <EmptyListNote>
      No cart has the status “{formatEnumValue(status).toLowerCase()}”.{" "}
      <ConsoleLink to="/carts">Show all carts</ConsoleLink>
    </EmptyListNote>
  );
