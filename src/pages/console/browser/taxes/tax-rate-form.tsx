/** The form fields of the dialogs that add and change a tax rate. */
import type { JSX } from "preact";
import { GraphqlRequestError } from "#pages/console/browser/graph/client.ts";
import { CheckboxGroup, SelectField, TextField } from "#pages/console/browser/parts/fields.tsx";
import type {
  ConsoleTaxClass,
  ConsoleTaxRate,
  MarketWithTaxRates,
  TaxRateValueInput,
} from "./tax-documents.ts";
import { formatBasisPointsForFormField, formatCountry, parsePercentAsBasisPoints } from "./tax-formats.ts";

/** The typed values of the form. An empty text for the region or a day means that the tax rate has none. */
export type TaxRateForm = Readonly<
  Record<"country" | "regionCode" | "taxClass" | "name" | "percent" | "validFrom" | "validTo", string>
> & { readonly appliesToShipping: boolean };

const fieldNames = ["country", "regionCode", "taxClass", "name", "basisPoints", "validFrom", "validTo"];
/** The JSON Pointers of the fields that show their own errors. */
export const taxRateFormPointers = fieldNames.map((name) => `/${name}`);

interface TaxRateFormContext {
  readonly market: MarketWithTaxRates;
  readonly taxClasses: readonly ConsoleTaxClass[];
}

export const createNewTaxRateForm = ({ market, taxClasses }: TaxRateFormContext): TaxRateForm => ({
  country: market.countries[0] ?? "",
  regionCode: "",
  taxClass: taxClasses[0]?.code ?? "",
  name: "VAT",
  percent: "",
  validFrom: "",
  validTo: "",
  appliesToShipping: true,
});

export const createFormOfTaxRate = (rate: ConsoleTaxRate): TaxRateForm => ({
  ...rate,
  regionCode: rate.regionCode ?? "",
  percent: formatBasisPointsForFormField(rate.basisPoints),
  validFrom: rate.validFrom ?? "",
  validTo: rate.validTo ?? "",
});

export const emptyToNull = (text: string): string | null => (text.trim() === "" ? null : text.trim());

/** Reads the values of a tax rate from the form. Returns a failure if the percentage cannot be read. */
export function readTaxRateValues(form: TaxRateForm): TaxRateValueInput | GraphqlRequestError {
  const basisPoints = parsePercentAsBasisPoints(form.percent);
  return basisPoints === undefined
    ? createPercentFailure()
    : {
        name: form.name.trim(),
        basisPoints,
        appliesToShipping: form.appliesToShipping,
        validFrom: emptyToNull(form.validFrom),
        validTo: emptyToNull(form.validTo),
      };
}

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

interface FormPartProps {
  readonly form: TaxRateForm;
  readonly failure: GraphqlRequestError | undefined;
  readonly set: (change: Partial<TaxRateForm>) => void;
}

/** The form fields that identify a tax rate and cannot be changed later: country, region and tax class. */
export function TaxPlaceFields({
  market,
  taxClasses,
  form,
  failure,
  set,
}: FormPartProps & TaxRateFormContext): JSX.Element {
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
        hint={`ISO 3166-2 code, which begins with ${form.country}-. Leave it empty for the whole country.`}
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
    </>
  );
}

/**
 * The form fields that staff can change in an existing tax rate: the name, the percentage, whether shipping
 * is taxed, and the first and the last day.
 */
export function TaxRateValueFields(props: FormPartProps & { readonly timeZone: string }): JSX.Element {
  const { form, failure, set } = props;
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
      <TaxRateDayFields {...props} />
    </>
  );
}

function TaxRateDayFields({
  form,
  failure,
  set,
  timeZone,
}: FormPartProps & { readonly timeZone: string }): JSX.Element {
  return (
    <>
      <p class="soft">
        Days are in the time zone {timeZone}. Leave a day empty if the rate has no first or no last day.
      </p>
      <div class="field-pair">
        <TextField
          label="First day"
          pointer="/validFrom"
          failure={failure}
          name="validFrom"
          value={form.validFrom}
          onChange={(validFrom) => set({ validFrom })}
          input={{ type: "date" }}
        />
        <TextField
          label="Last day"
          pointer="/validTo"
          failure={failure}
          name="validTo"
          value={form.validTo}
          onChange={(validTo) => set({ validTo })}
          input={{ type: "date" }}
        />
      </div>
    </>
  );
}
