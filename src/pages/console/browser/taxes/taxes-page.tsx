/** The page with the tax classes of a merchant and the tax rates of each market. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { PageHeading } from "#pages/console/browser/navigation.tsx";
import {
  DataTable,
  EmptyListNote,
  QueryResultOrLoadingNote,
  type DataTableColumn,
} from "#pages/console/browser/parts/tables.tsx";
import { TaxClassDialog } from "./tax-class-dialog.tsx";
import {
  type ConsoleTaxClass,
  type ConsoleTaxRate,
  type MarketWithTaxRates,
  taxesDocument,
} from "./tax-documents.ts";
import {
  formatBasisPointsAsPercentage,
  formatTaxRateValidityPeriod,
  formatTaxCountryAndRegion,
} from "./tax-formats.ts";
import { AddTaxRateDialog, ChangeTaxRateDialog, DeleteTaxRateDialog } from "./tax-rate-dialog.tsx";

/** The open dialog of the page: for a new tax class, or for a new or a saved tax rate of a market. */
type OpenTaxDialog =
  | { readonly what: "class" }
  | { readonly what: "new rate"; readonly market: MarketWithTaxRates }
  | {
      readonly what: "change" | "delete";
      readonly market: MarketWithTaxRates;
      readonly rate: ConsoleTaxRate;
    };

export function TaxesPage(): JSX.Element {
  const query = useGraphqlQuery(taxesDocument, {});
  const [open, setOpen] = useState<OpenTaxDialog>();
  const [notice, setNotice] = useState("");
  const onSaved = (text: string): void => {
    setNotice(text);
    query.reload();
  };
  const onClose = (): void => setOpen(undefined);
  return (
    <>
      <PageHeading title="Taxes">
        <button type="button" onClick={() => setOpen({ what: "class" })}>
          Add a tax class
        </button>
      </PageHeading>
      <p class="lead">
        The tax of a product follows its tax class and the delivery address. A cart gets a new rate at its
        next change or at the checkout; a placed order keeps its rates.{" "}
        <a href={`${basePath}/docs/guides/taxes`}>How taxes are computed</a>
      </p>
      <p role="status">{notice}</p>
      <QueryResultOrLoadingNote query={query} what="taxes">
        {({ taxClasses, markets }) => (
          <>
            <TaxClassList taxClasses={taxClasses} />
            {markets.map((market) => (
              <MarketTaxes key={market.id} market={market} taxClasses={taxClasses} onOpen={setOpen} />
            ))}
            {open?.what === "new rate" ? (
              <AddTaxRateDialog {...open} taxClasses={taxClasses} onSaved={onSaved} onClose={onClose} />
            ) : null}
          </>
        )}
      </QueryResultOrLoadingNote>
      {open?.what === "class" ? (
        <TaxClassDialog onSaved={() => onSaved("The class is saved.")} onClose={onClose} />
      ) : null}
      {open?.what === "change" ? <ChangeTaxRateDialog {...open} onSaved={onSaved} onClose={onClose} /> : null}
      {open?.what === "delete" ? <DeleteTaxRateDialog {...open} onSaved={onSaved} onClose={onClose} /> : null}
    </>
  );
}

const TaxClassList = ({ taxClasses }: { readonly taxClasses: readonly ConsoleTaxClass[] }): JSX.Element => (
  <section aria-labelledby="tax-classes">
    <h2 id="tax-classes">Tax classes</h2>
    <DataTable
      caption="Tax classes"
      columns={[
        { title: "Name", cell: ({ name }) => <strong>{name}</strong> },
        { title: "Code", cell: ({ code }) => <code>{code}</code> },
      ]}
      rows={taxClasses}
      keyOf={({ code }) => code}
    />
  </section>
);

interface MarketTaxesProps {
  readonly market: MarketWithTaxRates;
  readonly taxClasses: readonly ConsoleTaxClass[];
  readonly onOpen: (dialog: OpenTaxDialog) => void;
}

function MarketTaxes({ market, taxClasses, onOpen }: MarketTaxesProps): JSX.Element {
  const { id, name, currency, taxIncluded, taxRounding, taxRates } = market;
  return (
    <section aria-labelledby={id}>
      <div class="heading">
        <h2 id={id}>{name}</h2>
        <div class="actions">
          <button
            type="button"
            class="second"
            aria-label={`Add a rate to ${name}`}
            onClick={() => onOpen({ what: "new rate", market })}
          >
            Add a rate
          </button>
        </div>
      </div>
      <p class="soft">
        Prices in {currency} {taxIncluded ? "include tax" : "exclude tax"}; the tax is rounded{" "}
        {taxRounding === "LINE" ? "for each line of an order" : "for each rate of an order"}.
      </p>
      {taxRates.length === 0 ? (
        <EmptyListNote>The market has no tax rates, so orders are placed without tax.</EmptyListNote>
      ) : (
        <DataTable
          caption={`Tax rates of ${name}`}
          columns={createRateColumns(taxClasses, (what, rate) => onOpen({ what, market, rate }))}
          rows={taxRates}
          keyOf={(rate) => rate.id}
        />
      )}
    </section>
  );
}

function createRateColumns(
  taxClasses: readonly ConsoleTaxClass[],
  open: (what: "change" | "delete", rate: ConsoleTaxRate) => void,
): DataTableColumn<ConsoleTaxRate>[] {
  const classNames = new Map(taxClasses.map(({ code, name }) => [code, name]));
  const nameOf = ({ taxClass }: ConsoleTaxRate): string => classNames.get(taxClass) ?? taxClass;
  return [
    { title: "Place", cell: formatTaxCountryAndRegion },
    { title: "Tax class", cell: nameOf },
    { title: "Name", cell: ({ name }) => name },
    { title: "Rate", cell: ({ basisPoints }) => formatBasisPointsAsPercentage(basisPoints), isNumber: true },
    { title: "Shipping", cell: ({ appliesToShipping }) => (appliesToShipping ? "taxed" : "not taxed") },
    { title: "Valid", cell: formatTaxRateValidityPeriod },
    {
      title: "Actions",
      cell: (rate) => {
        const place = formatTaxCountryAndRegion(rate);
        const label = `${rate.name} of ${nameOf(rate)} in ${place}, ${formatTaxRateValidityPeriod(rate)}`;
        return (
          <>
            <button
              type="button"
              class="plain"
              aria-label={`Change ${label}`}
              onClick={() => open("change", rate)}
            >
              Change
            </button>{" "}
            <button
              type="button"
              class="plain"
              aria-label={`Delete ${label}`}
              onClick={() => open("delete", rate)}
            >
              Delete
            </button>
          </>
        );
      },
    },
  ];
}
