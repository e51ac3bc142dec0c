/**
 * Shows whether an order can still be canceled and which of its items can be returned, by the same rules as
 * in the REST API.
 */
import type { JSX } from "preact";
import {
  formatEnumValue,
  formatMoney,
  StatusBadge,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import { DescriptionListRow } from "#pages/console/browser/parts/tables.tsx";
import type { ConsoleOrder, ConsoleOrderEligibilityReason } from "./order-documents.ts";

export function OrderEligibilitySection({ order }: { readonly order: ConsoleOrder }): JSX.Element {
  return (
    <section aria-labelledby="eligibility">
      <h2 id="eligibility">What is still possible</h2>
      <p class="soft">Your staff’s view of the same rules that apps and storefronts get.</p>
      <dl class="facts">
        <DescriptionListRow name="Cancel">
          <CancellationAnswer order={order} />
        </DescriptionListRow>
        {order.afterSalesEligibility.lines.map(({ lineId, options }) => (
          <DescriptionListRow
            key={lineId}
            name={order.lines.find(({ id }) => id === lineId)?.title ?? lineId}
          >
            <ul class="reasons">
              {options.map(({ kind, decision, eligibleQuantity, reasons }) => (
                <li key={kind}>
                  {formatEnumValue(kind)}: <StatusBadge value={decision} />{" "}
                  {eligibleQuantity === 0 ? null : `${eligibleQuantity.toLocaleString()} ×`}
                  <ReasonList reasons={reasons} />
                </li>
              ))}
            </ul>
          </DescriptionListRow>
        ))}
      </dl>
    </section>
  );
}

function CancellationAnswer({ order: { cancellationEligibility } }: { readonly order: ConsoleOrder }) {
  const { decision, refund, deadline, reasons } = cancellationEligibility;
  return (
    <>
      <StatusBadge value={decision} />{" "}
      {refund === null || refund.estimated.amountMinor === 0
        ? null
        : `refunds about ${formatMoney(refund.estimated)} `}
      {decision === "DENIED" || deadline === null || deadline.at === null ? null : (
        <>
          until <FormattedTime at={deadline.at} isMinute />
        </>
      )}
      <ReasonList reasons={reasons} />
    </>
  );
}

const ReasonList = ({
  reasons,
}: {
  readonly reasons: readonly ConsoleOrderEligibilityReason[];
}): JSX.Element | null =>
  reasons.length === 0 ? null : (
    <ul class="reasons soft small">
      {reasons.map(({ code, message }) => (
        <li key={code}>{message}</li>
      ))}
    </ul>
  );
