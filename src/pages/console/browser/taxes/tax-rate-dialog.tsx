/**
 * The dialog that adds or changes a tax rate of a market. Adding a rate with a later first day ends the
 * present rate of the same tax class, country and region on the day before.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { GraphqlRequestError } from "#pages/console/browser/graph/client.ts";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { Dialog, DialogFormButtons } from "#pages/console/browser/parts/dialogs.tsx";
import {
  CheckboxGroup,
  FailureBanner,
  SelectField,
  TextField,
} from "#pages/console/browser/parts/fields.tsx";
import {
  type ConsoleTaxClass,
  type ConsoleTaxRate,
  type MarketWithTaxRates,
  upsertTaxRateDocument,
} from "./tax-documents.ts";
import {
  formatCountry,
  formatTaxRateValidityPeriod,
  formatTaxCountryAndRegion,
  parsePercentAsBasisPoints,
  formatBasisPointsForFormField,
} from "./tax-formats.ts";

interface TaxRateDialogProps {
  readonly market: MarketWithTaxRates;
  readonly taxClasses: readonly ConsoleTaxClass[];
  /** The rate to change; undefined to add a rate. */
  readonly rate: ConsoleTaxRate | undefined;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** The typed values of the form. An empty text for the region or a day means that the tax rate has none. */
type RateForm = Readonly<
  Record<"country" | "regionCode" | "taxClass" | "name" | "percent" | "validFrom" | "validTo", string>
> & { readonly appliesToShipping: boolean };

const formFields = ["country", "regionCode", "taxClass", "name", "basisPoints", "validFrom", "validTo"];

/** Returns the failure of a percentage that cannot be read, in the form of a failed request. */
const createPercentFailure = (): GraphqlRequestError =>
  new GraphqlRequestError("The form has errors.", {
    details: [
      {
        field: "/basisPoints",
        code: "invalid_field",
        message: "Enter a percentage from 0 to 100 with at most two decimals, for example 19 or 7.5.",
      },
    ],
  });

const createForm = ({ market, taxClasses, rate }: TaxRateDialogProps): RateForm =>
  rate === undefined
    ? {
        country: market.countries[0] ?? "",
        regionCode: "",
        taxClass: taxClasses[0]?.code ?? "",
        name: "VAT",
        percent: "",
        validFrom: "",
        validTo: "",
        appliesToShipping: true,
      }
    : {
        ...rate,
        regionCode: rate.regionCode ?? "",
        percent: formatBasisPointsForFormField(rate.basisPoints),
        validFrom: rate.validFrom ?? "",
        validTo: rate.validTo ?? "",
      };

const emptyToNull = (text: string): string | null => (text.trim() === "" ? null : text.trim());

export function TaxRateDialog(props: TaxRateDialogProps): JSX.Element {
  const { market, rate, onSaved, onClose } = props;
  const [form, setForm] = useState<RateForm>(() => createForm(props));
  const [localFailure, setLocalFailure] = useState<GraphqlRequestError>();
  const mutation = useGraphqlMutation(upsertTaxRateDocument);
  const failure = localFailure ?? mutation.failure;
  const { isBusy } = mutation;
  const set = (change: Partial<RateForm>): void => setForm((before) => ({ ...before, ...change }));
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const { country, taxClass, appliesToShipping } = form;
    const basisPoints = parsePercentAsBasisPoints(form.percent);
    setLocalFailure(basisPoints === undefined ? createPercentFailure() : undefined);
    if (basisPoints === undefined) return;
    const input = {
      marketId: market.id,
      country,
      regionCode: emptyToNull(form.regionCode),
      taxClass,
      name: form.name.trim(),
      basisPoints,
      appliesToShipping,
      validFrom: emptyToNull(form.validFrom),
      validTo: emptyToNull(form.validTo),
    };
    if ((await mutation.run({ input })) === undefined) return;
    onSaved();
    onClose();
  };
  const title = rate === undefined ? `Add a tax rate to ${market.name}` : "Change the tax rate";
  return (
    <Dialog title={title} onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <FailureBanner failure={failure} shown={formFields.map((name) => `/${name}`)} />
        {rate === undefined ? (
          <PlaceFields {...props} form={form} failure={failure} set={set} />
        ) : (
          <p>
            {formatTaxCountryAndRegion(rate)}: class <code>{rate.taxClass}</code>, valid{" "}
            {formatTaxRateValidityPeriod(rate)}. For a rate from another day on, add a rate instead.
          </p>
        )}
        <RateFields form={form} failure={failure} set={set} />
        <TextField
          label="Last day"
          hint={`In the time zone ${market.timeZone}. Leave it empty if the rate has no last day.`}
          pointer="/validTo"
          failure={failure}
          name="validTo"
          value={form.validTo}
          onChange={(validTo) => set({ validTo })}
          input={{ type: "date" }}
        />
        <DialogFormButtons action="Save the rate" isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

interface FormPartProps {
  readonly form: RateForm;
  readonly failure: GraphqlRequestError | undefined;
  readonly set: (change: Partial<RateForm>) => void;
}

/** The form fields that identify a tax rate: country, region, tax class and first day. */
function PlaceFields({
  market,
  taxClasses,
  form,
  failure,
  set,
}: FormPartProps & Pick<TaxRateDialogProps, "market" | "taxClasses">): JSX.Element {
  return (
    <>
      <SelectField
        label="Country"
        pointer="/country"
        failure={failure}
        name="country"
        value={form.country}
        options={market.countries.map((country) => ({ value: country, label: formatCountry(country) }))}
        onChange={(country) => set({ country })}
      />
      <TextField
        label="Region"
        hint={`ISO 3166-2 code, for example ${form.country}-XX. Leave it empty for the whole country.`}
        pointer="/regionCode"
        failure={failure}
        name="regionCode"
        value={form.regionCode}
        onChange={(regionCode) => set({ regionCode })}
      />
      <SelectField
        label="Tax class"
        pointer="/taxClass"
        failure={failure}
        name="taxClass"
        value={form.taxClass}
        options={taxClasses.map(({ code, name }) => ({ value: code, label: name }))}
        onChange={(taxClass) => set({ taxClass })}
      />
      <TextField
        label="First day"
        hint={`In the time zone ${market.timeZone}. Leave it empty if the rate has always been valid.`}
        pointer="/validFrom"
        failure={failure}
        name="validFrom"
        value={form.validFrom}
        onChange={(validFrom) => set({ validFrom })}
        input={{ type: "date" }}
      />
    </>
  );
}

/**
 * The form fields that staff can change in an existing tax rate: the name, the percentage, and whether
 * shipping is taxed.
 */
function RateFields({ form, failure, set }: FormPartProps): JSX.Element {
  return (
    <>
      <TextField
        label="Name"
        hint="Buyers see this name in the checkout, for example “VAT”."
        pointer="/name"
        failure={failure}
        name="name"
        value={form.name}
        onChange={(name) => set({ name })}
      />
      <TextField
        label="Rate in percent"
        hint="For example 19 or 7.5."
        pointer="/basisPoints"
        failure={failure}
        name="basisPoints"
        value={form.percent}
        onChange={(percent) => set({ percent })}
        input={{ inputMode: "decimal" }}
      />
      <CheckboxGroup
        legend="Shipping"
        pointer="/appliesToShipping"
        failure={failure}
        choices={[{ value: "shipping", label: "The tax also applies to shipping" }]}
        chosen={new Set(form.appliesToShipping ? ["shipping"] : [])}
        onChange={(chosen) => set({ appliesToShipping: chosen.has("shipping") })}
      />
    </>
  );
}
