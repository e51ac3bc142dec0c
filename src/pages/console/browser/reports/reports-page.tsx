/**
 * The page of the reports. The reader chooses the days, the time zone and the currency once for all reports.
 * Each report has a chart or table, and a link that downloads the report as CSV.
 */
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { basePath } from "#pages/console/browser/graph/client.ts";
import {
  ConsoleLink,
  type ConsoleLocation,
  PageHeading,
  replaceConsoleUrlInHistory,
} from "#pages/console/browser/navigation.tsx";
import { timeZone as readerTimeZone } from "#pages/console/browser/parts/formats.tsx";
import { FunnelReportView, SalesReportView } from "./bucket-reports.tsx";
import { ProductReportView } from "./product-report.tsx";
import {
  BuyerReportView,
  FulfillmentReportView,
  InventoryReportView,
  RefundReportView,
} from "./operation-reports.tsx";
import { PromotionReportView, ReturnReportView, SearchReportView } from "./list-reports.tsx";
import {
  findReportFilterFault,
  getReportCsvPath,
  getReportsPagePath,
  listReportPeriodPresets,
  parseReportFilter,
  type ReportFilter,
  type ReportName,
  reportNames,
} from "./report-choices.ts";
import "#pages/console/browser/parts/filters.css";
import "./reports.css";

const reportTitles: Readonly<Record<ReportName, string>> = {
  sales: "Sales",
  products: "Products",
  funnel: "From cart to order",
  promotions: "Promotions",
  buyers: "Buyers",
  returns: "Returns",
  refunds: "Refunds",
  fulfillments: "Shipping",
  inventory: "Stock",
  searches: "Searches",
};

const views: Readonly<Record<ReportName, (props: { readonly choices: ReportFilter }) => JSX.Element>> = {
  sales: SalesReportView,
  products: ProductReportView,
  funnel: FunnelReportView,
  promotions: PromotionReportView,
  buyers: BuyerReportView,
  returns: ReturnReportView,
  refunds: RefundReportView,
  fulfillments: FulfillmentReportView,
  inventory: InventoryReportView,
  searches: SearchReportView,
};

export function ReportsPage({ place }: { readonly place: ConsoleLocation }): JSX.Element {
  const choices = parseReportFilter(place.query);
  const fault = findReportFilterFault(choices);
  const View = views[choices.report];
  return (
    <>
      <PageHeading title="Reports">
        {fault === undefined ? (
          <a class="button second" href={`${basePath}${getReportCsvPath(choices)}`} download>
            Download as CSV
          </a>
        ) : undefined}
      </PageHeading>
      <p class="lead">
        An order counts on the day on which it was placed. Small grey figures are the same amounts in the
        currency’s minor units, as in the CSV file, which has all currencies. To download single rows instead
        of sums, <ConsoleLink to="/exports">create an export</ConsoleLink>.
      </p>
      <ChoiceForm choices={choices} fault={fault} />
      <nav class="reports" aria-label="Reports">
        {reportNames.map((report) => (
          <ConsoleLink
            key={report}
            to={getReportsPagePath({ ...choices, report })}
            aria-current={report === choices.report ? "page" : undefined}
          >
            {reportTitles[report]}
          </ConsoleLink>
        ))}
      </nav>
      <section aria-labelledby="report">
        <h2 id="report">{reportTitles[choices.report]}</h2>
        {fault === undefined ? <View choices={choices} /> : null}
      </section>
    </>
  );
}

interface ChoiceFormProps {
  readonly choices: ReportFilter;
  readonly fault: string | undefined;
}

function ChoiceForm({ choices, fault }: ChoiceFormProps): JSX.Element {
  const id = useId();
  const set = (change: Partial<ReportFilter>): void =>
    replaceConsoleUrlInHistory(getReportsPagePath({ ...choices, ...change }));
  const day = (name: "from" | "to", label: string): JSX.Element => (
    <div>
      <label for={`${id}-${name}`}>{label}</label>
      <input
        id={`${id}-${name}`}
        type="date"
        value={choices[name]}
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? undefined : `${id}-fault`}
        onChange={({ currentTarget: { value } }) => {
          if (value !== "") set({ [name]: value });
        }}
      />
    </div>
  );
  return (
    <>
      <div class="presets" role="group" aria-label="Periods">
        {listReportPeriodPresets(choices.timeZone).map(({ name, from, to }) => (
          <button
            key={name}
            type="button"
            class="second"
            aria-pressed={from === choices.from && to === choices.to}
            onClick={() => set({ from, to })}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="filters compact">
        {day("from", "First day")}
        {day("to", "Last day")}
        <ZoneField value={choices.timeZone} onChange={(timeZone) => set({ timeZone })} />
        <CurrencyField value={choices.currency} onChange={(currency) => set({ currency })} />
      </div>
      {fault === undefined ? null : (
        <p class="fault" id={`${id}-fault`} role="alert">
          {fault}
        </p>
      )}
    </>
  );
}

interface ZoneFieldProps {
  readonly value: string;
  readonly onChange: (timeZone: string) => void;
}

function ZoneField({ value, onChange }: ZoneFieldProps): JSX.Element {
  const id = useId();
  const zones = new Set([value, readerTimeZone, "UTC", ...Intl.supportedValuesOf("timeZone")]);
  return (
    <div>
      <label for={id}>Time zone</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {[...zones].map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </select>
    </div>
  );
}

/**
 * The currencies that staff can choose for a report, plus the currency in the page's URL. A report is empty
 * for a currency without sales.
 */
const offeredCurrencies = ["EUR", "USD", "GBP", "JPY", "CHF", "SEK", "DKK", "NOK", "PLN", "CAD", "AUD"];

interface CurrencyFieldProps {
  readonly value: string | null;
  readonly onChange: (currency: string | null) => void;
}

function CurrencyField({ value, onChange }: CurrencyFieldProps): JSX.Element {
  const id = useId();
  const currencies = new Set([...(value === null ? [] : [value]), ...offeredCurrencies]);
  return (
    <div>
      <label for={id}>Currency</label>
      <select
        id={id}
        value={value ?? ""}
        onChange={({ currentTarget }) => onChange(currentTarget.value === "" ? null : currentTarget.value)}
      >
        <option value="">All</option>
        {[...currencies].map((currency) => (
          <option key={currency} value={currency}>
            {currency}
          </option>
        ))}
      </select>
    </div>
  );
}
