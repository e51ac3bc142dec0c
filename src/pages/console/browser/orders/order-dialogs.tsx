/** Two dialogs: one cancels an order, the other refunds a part of the amount that was paid for it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { GraphqlRequestError } from "#pages/console/browser/graph/client.ts";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { ConfirmDialog } from "#pages/console/browser/parts/dialogs.tsx";
import { SelectField, TextField } from "#pages/console/browser/parts/fields.tsx";
import { formatMoney, type MoneyAmount } from "#pages/console/browser/parts/formats.tsx";
import { cancelOrderDocument, type ConsoleOrder, refundOrderDocument } from "./order-documents.ts";
import { getRefundableAmount, parseEnteredAmountAsMinorUnits } from "./refundable-amount.ts";

const cancellationReasons = [
  { value: "CHANGED_MIND", label: "The buyer no longer wants it" },
  { value: "ORDERED_BY_MISTAKE", label: "The buyer ordered by mistake" },
  { value: "ARRIVES_TOO_LATE", label: "The delivery would be too late" },
  { value: "WRONG_ADDRESS", label: "The address is wrong" },
  { value: "OUT_OF_STOCK", label: "The product is out of stock" },
  { value: "PRICE_ERROR", label: "The price was wrong" },
  { value: "FRAUD_SUSPECTED", label: "Fraud is suspected" },
  { value: "BUYER_UNREACHABLE", label: "The buyer cannot be reached" },
  { value: "OTHER", label: "Another reason" },
] as const;

const refundReasons = [
  { value: "REQUESTED_BY_CUSTOMER", label: "The buyer asked for it" },
  { value: "DAMAGED", label: "The item was damaged" },
  { value: "NOT_RECEIVED", label: "The item did not arrive" },
  { value: "WRONG_ITEM", label: "The wrong item arrived" },
  { value: "PRICE_ADJUSTMENT", label: "The price is reduced" },
  { value: "DUPLICATE", label: "It was paid twice" },
  { value: "FRAUDULENT", label: "The payment was fraudulent" },
  { value: "OTHER", label: "Another reason" },
] as const;

interface OrderDialogProps {
  readonly order: ConsoleOrder;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/**
 * True if a request failed because the order has changed since the dialog was opened. A repeated request
 * would fail too.
 */
const isStaleOrder = (failure: GraphqlRequestError | undefined): boolean =>
  failure?.code === "version_conflict" || failure?.code === "invalid_state";

export function CancelOrderDialog({ order, onChanged, onClose }: OrderDialogProps): JSX.Element {
  const [reason, setReason] = useState<(typeof cancellationReasons)[number]["value"]>("CHANGED_MIND");
  const [note, setNote] = useState("");
  const { isBusy, failure, run } = useGraphqlMutation(cancelOrderDocument);
  const isStale = isStaleOrder(failure);
  const finish = (): void => {
    onChanged();
    onClose();
  };
  const cancel = async (): Promise<void> => {
    if (isStale) return finish();
    const input = { expectedVersion: order.version, reason, note: note.trim() === "" ? null : note };
    if ((await run({ orderId: order.id, input })) !== undefined) finish();
  };
  return (
    <ConfirmDialog
      title="Cancel this order?"
      action={isStale ? "Show the newest version" : "Cancel the order"}
      isHarmless={isStale}
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void cancel()}
      onClose={onClose}
    >
      <CancellationEffects order={order} />
      <SelectField
        label="Reason"
        pointer="/reason"
        failure={failure}
        name="reason"
        value={reason}
        options={cancellationReasons}
        onChange={setReason}
      />
      <NoteField failure={failure} value={note} onChange={setNote} />
    </ConfirmDialog>
  );
}

function CancellationEffects({ order }: { readonly order: ConsoleOrder }): JSX.Element {
  const { lines, refund } = order.cancellationEligibility;
  const canceled = lines.flatMap(({ lineId, cancelableQuantity }) => {
    const line = order.lines.find(({ id }) => id === lineId);
    return line === undefined || cancelableQuantity === 0 ? [] : [{ line, cancelableQuantity }];
  });
  return (
    <>
      <p>These items are canceled, and their stock can be sold again. This cannot be undone.</p>
      <ul>
        {canceled.map(({ line, cancelableQuantity }) => (
          <li key={line.id}>
            {cancelableQuantity.toLocaleString()} × {line.title}
          </li>
        ))}
      </ul>
      {refund === null || refund.estimated.amountMinor === 0 ? null : (
        <p>The buyer gets back {formatMoney(refund.estimated)} to the payment method used.</p>
      )}
    </>
  );
}

export function RefundOrderDialog({ order, onChanged, onClose }: OrderDialogProps): JSX.Element {
  const largest: MoneyAmount = { ...order.totals.total, amountMinor: getRefundableAmount(order) };
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState<(typeof refundReasons)[number]["value"]>("REQUESTED_BY_CUSTOMER");
  const [note, setNote] = useState("");
  const [fault, setFault] = useState<GraphqlRequestError>();
  const { isBusy, failure, run } = useGraphqlMutation(refundOrderDocument);
  const isStale = isStaleOrder(failure);
  const typed = parseEnteredAmountAsMinorUnits(amount, largest);
  const finish = (): void => {
    onChanged();
    onClose();
  };
  const refund = async (): Promise<void> => {
    if (isStale) return finish();
    const isWrong = typed === undefined || typed > largest.amountMinor;
    setFault(isWrong ? toAmountFailure(largest) : undefined);
    if (isWrong) return;
    const input = {
      expectedVersion: order.version,
      amount: { amountMinor: typed, currency: order.currency },
      reason,
      note: note.trim() === "" ? null : note,
    };
    if ((await run({ orderId: order.id, input })) !== undefined) finish();
  };
  return (
    <ConfirmDialog
      title="Refund an amount?"
      action={isStale ? "Show the newest version" : nameRefund(typed, largest)}
      isHarmless={isStale}
      isBusy={isBusy}
      failure={fault ?? failure}
      onConfirm={() => void refund()}
      onClose={onClose}
    >
      <p>
        The buyer gets the amount back to the payment method used. The order and its items stay. The payment
        provider confirms the refund a little later. A refund cannot be undone.
      </p>
      <TextField
        label={`Amount in ${order.currency}`}
        hint={`At most ${formatMoney(largest)}, which was paid and not refunded.`}
        pointer="/amount"
        failure={fault ?? failure}
        name="amount"
        value={amount}
        onChange={setAmount}
        input={{ inputMode: "decimal" }}
      />
      <SelectField
        label="Reason"
        pointer="/reason"
        failure={failure}
        name="reason"
        value={reason}
        options={refundReasons}
        onChange={setReason}
      />
      <NoteField failure={failure} value={note} onChange={setNote} />
    </ConfirmDialog>
  );
}

const nameRefund = (amountMinor: number | undefined, money: MoneyAmount): string =>
  amountMinor === undefined ? "Refund" : `Refund ${formatMoney({ ...money, amountMinor })}`;

const toAmountFailure = (largest: MoneyAmount): GraphqlRequestError =>
  new GraphqlRequestError("The refund was not sent.", {
    details: [
      {
        field: "/amount",
        code: "invalid",
        message: `Enter an amount up to ${formatMoney(largest)}, for example 4.50.`,
      },
    ],
  });

interface NoteFieldProps {
  readonly failure: GraphqlRequestError | undefined;
  readonly value: string;
  readonly onChange: (note: string) => void;
}

const NoteField = (props: NoteFieldProps): JSX.Element => (
  <TextField
    {...props}
    label="Note (optional)"
    hint="At most 500 characters. The buyer’s frontend can read it."
    pointer="/note"
    name="note"
  />
);
