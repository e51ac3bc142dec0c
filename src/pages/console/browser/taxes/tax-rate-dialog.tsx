/**
 * The dialogs that add, change and delete a tax rate of a market. Before a new rate changes saved rates, the
 * dialog names these rates and asks for a confirmation.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  GraphqlRequestError,
  sendGraphqlRequest,
  toGraphqlRequestError,
} from "#pages/console/browser/graph/client.ts";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { ConfirmDialog, Dialog, DialogFormButtons } from "#pages/console/browser/parts/dialogs.tsx";
import { FailureBanner } from "#pages/console/browser/parts/fields.tsx";
import {
  type ConsoleTaxClass,
  type ConsoleTaxRate,
  deleteTaxRateDocument,
  type MarketWithTaxRates,
  type NewTaxRateInput,
  type OverlappedConsoleTaxRate,
  taxRateOverlapsDocument,
  updateTaxRateDocument,
  upsertTaxRateDocument,
} from "./tax-documents.ts";
import {
  formatBasisPointsAsPercentage,
  formatOverlappedTaxRate,
  formatTaxCountryAndRegion,
  formatTaxRateValidityPeriod,
} from "./tax-formats.ts";
import {
  createFormOfTaxRate,
  createNewTaxRateForm,
  emptyToNull,
  readTaxRateValues,
  type TaxRateForm,
  taxRateFormPointers,
  TaxPlaceFields,
  TaxRateValueFields,
} from "./tax-rate-form.tsx";

interface TaxDialogProps {
  readonly market: MarketWithTaxRates;
  /** Called after a change with a sentence that says what was changed. */
  readonly onSaved: (notice: string) => void;
  readonly onClose: () => void;
}

/** The sentences about orders and carts that every dialog shows, because a rate can be valid in the past. */
const ordersAndCarts =
  "Placed orders do not change: they keep their taxes, also if the rate is valid on past days. A cart gets " +
  "the change at its next change or at the checkout.";

function useTaxRateForm(create: () => TaxRateForm): [TaxRateForm, (change: Partial<TaxRateForm>) => void] {
  const [form, setForm] = useState(create);
  return [form, (change) => setForm((before) => ({ ...before, ...change }))];
}

/** The new rate that waits for the confirmation of staff, and the saved rates that it changes. */
interface RateToConfirm {
  readonly input: NewTaxRateInput;
  readonly overlaps: readonly OverlappedConsoleTaxRate[];
}

export function AddTaxRateDialog(
  props: TaxDialogProps & { readonly taxClasses: readonly ConsoleTaxClass[] },
): JSX.Element {
  const { market, onSaved, onClose } = props;
  const [form, set] = useTaxRateForm(() => createNewTaxRateForm(props));
  const [checkFailure, setCheckFailure] = useState<GraphqlRequestError>();
  const [isChecking, setChecking] = useState(false);
  const [toConfirm, setToConfirm] = useState<RateToConfirm>();
  const mutation = useGraphqlMutation(upsertTaxRateDocument);
  const failure = checkFailure ?? mutation.failure;
  const isBusy = isChecking || mutation.isBusy;
  const save = async ({ input, overlaps }: RateToConfirm): Promise<void> => {
    if ((await mutation.run({ input })) === undefined) return;
    onSaved(["The rate is saved.", ...overlaps.map(formatOverlappedTaxRate)].join(" "));
    onClose();
  };
  const check = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    mutation.forget();
    const values = readTaxRateValues(form);
    setCheckFailure(values instanceof GraphqlRequestError ? values : undefined);
    if (values instanceof GraphqlRequestError) return;
    const { country, taxClass } = form;
    const place = { marketId: market.id, country, regionCode: emptyToNull(form.regionCode), taxClass };
    const input = { ...place, ...values };
    setChecking(true);
    try {
      const { taxRateOverlaps: overlaps } = await sendGraphqlRequest(taxRateOverlapsDocument, { input });
      if (overlaps.length > 0) setToConfirm({ input, overlaps });
      else await save({ input, overlaps });
    } catch (error) {
      setCheckFailure(toGraphqlRequestError(error));
    } finally {
      setChecking(false);
    }
  };
  if (toConfirm !== undefined)
    return (
      <OverlapDialog
        {...toConfirm}
        isBusy={isBusy}
        failure={failure}
        onConfirm={() => void save(toConfirm)}
        onClose={() => setToConfirm(undefined)}
      />
    );
  return (
    <Dialog title={`Add a tax rate to ${market.name}`} onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void check(event)} noValidate>
        <FailureBanner failure={failure} shown={taxRateFormPointers} />
        <TaxPlaceFields {...props} form={form} failure={failure} set={set} />
        <TaxRateValueFields form={form} failure={failure} set={set} timeZone={market.timeZone} />
        <p class="soft">{ordersAndCarts}</p>
        <DialogFormButtons action="Save the rate" isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

interface OverlapDialogProps extends RateToConfirm {
  readonly isBusy: boolean;
  readonly failure: GraphqlRequestError | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Names the saved rates that a new rate changes, and asks whether to save it. */
const OverlapDialog = ({ input, overlaps, ...confirm }: OverlapDialogProps): JSX.Element => (
  <ConfirmDialog title="This changes other rates" action="Save and change them" {...confirm}>
    <p>
      “{input.name}” {formatBasisPointsAsPercentage(input.basisPoints)} of the class{" "}
      <code>{input.taxClass}</code> in {formatTaxCountryAndRegion(input)}, valid{" "}
      {formatTaxRateValidityPeriod(input)}, is valid on days of other rates:
    </p>
    <ul>
      {overlaps.map((overlap) => (
        <li key={overlap.taxRate.id}>{formatOverlappedTaxRate(overlap)}</li>
      ))}
    </ul>
    <p>{ordersAndCarts}</p>
  </ConfirmDialog>
);

interface SavedTaxRateProps extends TaxDialogProps {
  readonly rate: ConsoleTaxRate;
}

export function ChangeTaxRateDialog({ market, rate, onSaved, onClose }: SavedTaxRateProps): JSX.Element {
  const [form, set] = useTaxRateForm(() => createFormOfTaxRate(rate));
  const [localFailure, setLocalFailure] = useState<GraphqlRequestError>();
  const { isBusy, run, ...mutation } = useGraphqlMutation(updateTaxRateDocument);
  const failure = localFailure ?? mutation.failure;
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const values = readTaxRateValues(form);
    setLocalFailure(values instanceof GraphqlRequestError ? values : undefined);
    if (values instanceof GraphqlRequestError) return;
    if ((await run({ input: { taxRateId: rate.id, ...values } })) === undefined) return;
    onSaved(`The rate is changed and is valid ${formatTaxRateValidityPeriod(values)}.`);
    onClose();
  };
  return (
    <Dialog title="Change the tax rate" onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <FailureBanner failure={failure} shown={taxRateFormPointers} />
        <p>
          {formatTaxCountryAndRegion(rate)}: class <code>{rate.taxClass}</code>, valid{" "}
          {formatTaxRateValidityPeriod(rate)}. For another percentage from a day on, add a rate instead.
        </p>
        <TaxRateValueFields form={form} failure={failure} set={set} timeZone={market.timeZone} />
        <p class="soft">
          Other rates do not change: days that this rate loses have no rate of the class until another rate
          begins. {ordersAndCarts}
        </p>
        <DialogFormButtons action="Save the rate" isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

export function DeleteTaxRateDialog({ rate, onSaved, onClose }: SavedTaxRateProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(deleteTaxRateDocument);
  const rateText = `“${rate.name}” ${formatBasisPointsAsPercentage(rate.basisPoints)}`;
  const period = formatTaxRateValidityPeriod(rate);
  const remove = async (): Promise<void> => {
    if ((await run({ input: { taxRateId: rate.id } })) === undefined) return;
    onSaved(`${rateText}, valid ${period}, is deleted.`);
    onClose();
  };
  return (
    <ConfirmDialog
      title="Delete the tax rate"
      action="Delete the rate"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>
        {rateText} of the class <code>{rate.taxClass}</code> in {formatTaxCountryAndRegion(rate)}, valid{" "}
        {period}, is deleted. Other rates do not change, so its days have no rate of the class. To end the
        rate on a day, change its last day instead.
      </p>
      <p>{ordersAndCarts}</p>
    </ConfirmDialog>
  );
}
