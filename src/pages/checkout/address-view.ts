/** Renders the form for the delivery address, with the fields that the country of the address needs. */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { formatCountryName } from "./amounts.ts";
import { type AddressFormLayout, getAddressFormLayout } from "#commerce/addresses/address-country.ts";
import type { AddressFormFieldName, EnteredAddressFormFields } from "./checkout-services.ts";
import { type AddressFieldFaultMessages, getAddressFieldFaultMessages } from "./address-faults.ts";
import { getAddressFieldLabel, hasCountryNumericPostalCodes } from "./address-labels.ts";
import { isMainLanguageOfCountry } from "./saved-address-view.ts";
import type { CheckoutPageVisit } from "./visit.ts";
import type { CheckoutLanguage } from "./texts.ts";
import type { FailureDetail } from "#foundation/failure.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";

export interface AddressFormFieldFault extends AddressFieldFaultMessages {
  readonly field: string;
}

export const addressFormId = "address-form";
export const getAddressFieldElementId = (name: string): string => `address-${name}`;

function addressForms(
  { countryCode }: EnteredAddressFormFields,
  { session }: Pick<CheckoutPageVisit, "session">,
): AddressFormLayout & { country: string } {
  const isOffered = countryCode !== undefined && session.countries.includes(countryCode);
  const country = isOffered
    ? countryCode
    : session.countries.includes(session.market)
      ? session.market
      : (session.countries[0] ?? session.market);
  return { country, ...getAddressFormLayout(country) };
}

/**
 * Converts the faults of an address to error messages of form fields. If a field has several faults, only the
 * first one is used.
 */
function fieldFaults(
  details: readonly FailureDetail[],
  { language, country }: { readonly language: CheckoutLanguage; readonly country: string },
): AddressFormFieldFault[] {
  const found = new Map<string, AddressFormFieldFault>();
  for (const detail of details) {
    const field = detail.field.slice(detail.field.lastIndexOf("/") + 1);
    if (!found.has(field) && isPart(field))
      found.set(field, { field, ...getAddressFieldFaultMessages(detail, { field, country, language }) });
  }
  return [...found.values()];
}

/**
 * Returns true if the address form also asks for an e-mail address. The session has none yet, or only another
 * browser may change the session at the moment.
 */
const isEmailAsked = ({ session, isHolder }: CheckoutPageVisit): boolean =>
  !isHolder || session.cart.buyer.emailHint === null;

/**
 * Keeps the fields of a typed address that the address form of its country has, and drops all others. Fields
 * that were not sent become empty texts.
 */
export function pickAddressFieldsUsedInCountry(
  typed: EnteredAddressFormFields,
  visit: CheckoutPageVisit,
): EnteredAddressFormFields {
  const { country, fields } = addressForms(typed, visit);
  return {
    countryCode: typed.countryCode ?? country,
    ...Object.fromEntries(fields.map(({ name }) => [name, typed[name] ?? ""])),
  };
}

/** Returns the e-mail address that the buyer typed; undefined if the address form does not ask for one. */
export const getEmailEnteredInAddressForm = (
  typed: EnteredAddressFormFields,
  visit: CheckoutPageVisit,
): string | undefined => (isEmailAsked(visit) ? (typed.email ?? "").trim() : undefined);

/** Returns the faults of a typed address, in the order of the form's fields. */
export function findEnteredAddressFaults(
  typed: EnteredAddressFormFields,
  visit: CheckoutPageVisit,
): AddressFormFieldFault[] {
  const requiredParts = pickAddressFieldsUsedInCountry(typed, visit);
  const missing: FailureDetail[] =
    getEmailEnteredInAddressForm(typed, visit) === ""
      ? [{ in: "body", field: "/email", code: "required", message: "" }]
      : [];
  const order = Object.keys(requiredParts);
  const { language, pageContext } = visit;
  const details = [...pageContext.services.addressFaults(requiredParts), ...missing];
  const found = fieldFaults(details, { language, country: addressForms(typed, visit).country });
  return found.toSorted((a, b) => order.indexOf(a.field) - order.indexOf(b.field));
}

const parts: ReadonlySet<string> = new Set<AddressFormFieldName>([
  "recipientName",
  "company",
  "line1",
  "line2",
  "line3",
  "district",
  "city",
  "regionCode",
  "postalCode",
  "countryCode",
  "phone",
  "email",
]);
const isPart = (name: string): name is AddressFormFieldName => parts.has(name);

/**
 * Reads the fields of all countries from the submitted address form, not only those of the selected country.
 * The values of hidden fields are shown again if the buyer selects the previous country again.
 */
export function readEnteredAddress(form: URLSearchParams): EnteredAddressFormFields {
  const typedMax = 1000;
  return Object.fromEntries(
    [...parts].flatMap((name) => (form.has(name) ? [[name, (form.get(name) ?? "").slice(0, typedMax)]] : [])),
  );
}

interface AddressShown {
  readonly typed: EnteredAddressFormFields;
  readonly faults: readonly AddressFormFieldFault[];
  /**
   * True if the buyer has just selected another country. The focus is then on the country field when the page
   * is shown.
   */
  readonly isCountryNew: boolean;
}

export function renderAddressForm(
  visit: CheckoutPageVisit,
  { typed, faults, isCountryNew }: AddressShown,
): PreEscapedHtml {
  const { say, session, path, isHolder } = visit;
  // Before the buyer has typed anything, the address form contains the saved address. Only the browser in
  // which that address was entered gets it.
  const values = Object.keys(typed).length > 0 ? typed : toTypedAddress(visit.entered.address);
  const { country, fields, regions } = addressForms(values, visit);
  const isEmailNeeded = isEmailAsked(visit);
  const shownFields: AddressFormLayout["fields"] = [
    ...fields.filter(({ name }) => name !== "email"),
    ...(isEmailNeeded ? [{ name: "email", isRequired: true } as const] : []),
  ];
  const hidden = Object.entries(values).filter(
    ([name]) => name !== "countryCode" && !shownFields.some((field) => field.name === name),
  );
  const faultOf = (name: string): string | undefined => faults.find(({ field }) => field === name)?.message;
  return html`<form
    method="post"
    action="${path}"
    class="address"
    id="${addressFormId}"
    data-check="${path}/address-check"
    novalidate
  >
    ${countryView(visit, { country, fault: faultOf("countryCode"), isFocused: isCountryNew })}
    ${groupLocality(shownFields).map(([first, ...more]) => {
      const views = [first, ...more].map((field) =>
        fieldView(field, {
          visit,
          value: values[field.name] ?? "",
          fault: faultOf(field.name),
          regions,
          country,
        }),
      );
      return more.length === 0 ? html`${views}` : html`<div class="locality">${views}</div>`;
    })}
    ${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button name="action" value="address">${say("addressSave")}</button>
    ${session.cart.address !== null && isHolder ? html`<p><a href="${path}">${say("addressKeep")}</a></p>` : undefined}
  </form>`;
}

const localityNames: ReadonlySet<string> = new Set(["city", "regionCode", "postalCode"]);

type FormField = AddressFormLayout["fields"][number];

/**
 * Puts the address fields city, region and postal code into one row if they follow each other in the address
 * form of the country.
 */
function groupLocality(fields: readonly FormField[]): (readonly [FormField, ...FormField[]])[] {
  const groups: [FormField, ...FormField[]][] = [];
  for (const field of fields) {
    const group = groups.at(-1);
    if (group !== undefined && localityNames.has(group[0].name) && localityNames.has(field.name))
      group.push(field);
    else groups.push([field]);
  }
  return groups;
}

/** Converts the saved address to the values of the form's fields. */
const toTypedAddress = (address: PostalAddress | undefined): EnteredAddressFormFields =>
  Object.fromEntries(
    Object.entries(address ?? {}).flatMap(([name, value]) =>
      typeof value === "string" && name !== "email" ? [[name, value]] : [],
    ),
  );

interface CountryShown {
  readonly country: string;
  readonly fault: string | undefined;
  readonly isFocused: boolean;
}

/**
 * Renders the choice of the country. An invisible "Continue" button comes before the button that changes the
 * country, because Enter presses the first button of a form.
 */
function countryView(
  { say, session, language }: CheckoutPageVisit,
  { country, fault, isFocused }: CountryShown,
): PreEscapedHtml {
  const names = session.countries
    .map((code) => ({ code, name: formatCountryName(code, language) }))
    .toSorted((a, b) => a.name.localeCompare(b.name, language));
  const id = getAddressFieldElementId("countryCode");
  return html`<button name="action" value="address" class="unseen" tabindex="-1" aria-hidden="true">
      ${say("addressSave")}
    </button>
    <div class="field">
      <label for="${id}">${getAddressFieldLabel({ field: "countryCode", country, language })}</label>
      <select
        id="${id}"
        name="countryCode"
        autocomplete="shipping country"
        ${described(id, fault)}${isFocused ? html` autofocus` : undefined}
      >
        ${names.map(
          ({ code, name }) =>
            html`<option value="${code}" ${code === country ? html` selected` : undefined}>${name}</option>`,
        )}
      </select>
      ${faultView(id, fault)}
    </div>
    <button
      name="action"
      value="country"
      class="second small"
      ${session.countries.length === 1 ? html`hidden` : undefined}
      data-country
    >
      ${say("countryChange")}
    </button>`;
}

const autocompletes: Partial<Record<AddressFormFieldName, string>> = {
  recipientName: "name",
  company: "organization",
  line1: "address-line1",
  line2: "address-line2",
  line3: "address-line3",
  district: "address-level3",
  city: "address-level2",
  regionCode: "address-level1",
  postalCode: "postal-code",
  phone: "tel",
  email: "email",
};
const types: Partial<Record<AddressFormFieldName, string>> = { phone: "tel", email: "email" };

interface FieldShown {
  readonly visit: CheckoutPageVisit;
  readonly value: string;
  readonly fault: string | undefined;
  readonly regions: AddressFormLayout["regions"];
  readonly country: string;
}

function fieldView(
  { name, isRequired }: AddressFormLayout["fields"][number],
  shown: FieldShown,
): PreEscapedHtml {
  const { visit, value, fault, country } = shown;
  const { say, language } = visit;
  const id = getAddressFieldElementId(name);
  const autocomplete = `shipping ${autocompletes[name] ?? ""}`;
  const shared = html` id="${id}" name="${name}"
  autocomplete="${autocomplete}"${isRequired ? html` required` : undefined}${keyboardFor(name, country)}${described(id, fault)}`;
  const control =
    name === "regionCode"
      ? regionView(shared, shown)
      : html`<input type="${types[name] ?? "text"}" ${shared} value="${value}" />`;
  return html`<div class="field">
    <label for="${id}"
      >${getAddressFieldLabel({ field: name, country, language })}${isRequired ? undefined : html` <span class="soft">${say("optional")}</span>`}</label
    >
    ${control}
    ${name === "phone" ? html`<p class="soft hint" id="${id}-hint">${say("phoneHint")}</p>` : undefined}
    ${faultView(id, fault)}
  </div>`;
}

/**
 * Returns the HTML attribute for the keyboard that phones show for the postal code: digits, or capital
 * letters. Returns undefined for all other address fields.
 */
function keyboardFor(name: AddressFormFieldName, country: string): PreEscapedHtml | undefined {
  if (name !== "postalCode") return undefined;
  return hasCountryNumericPostalCodes(country)
    ? html` inputmode="numeric"`
    : html` autocapitalize="characters"`;
}

function regionView(shared: PreEscapedHtml, { visit, value, regions, country }: FieldShown): PreEscapedHtml {
  const isLocal = isMainLanguageOfCountry(country, visit.language);
  return html`<select${shared}>
    <option value="">${visit.say("choose")}</option>
    ${regions.map(
      ({ code, name, localName }) =>
        html`<option value="${code}" ${code === value ? html` selected` : undefined}>
          ${isLocal ? localName : name}
        </option>`,
    )}
  </select>`;
}

const described = (id: string, fault: string | undefined): PreEscapedHtml => {
  const hint = id === getAddressFieldElementId("phone") ? `${id}-hint ` : "";
  return html`${fault === undefined ? undefined : html` aria-invalid="true"`}
  aria-describedby="${hint}${id}-fault"`;
};

/**
 * Renders the element for the error message of a field. Without an error, the element is empty, so that the
 * page's script can write a message into it.
 */
const faultView = (id: string, fault: string | undefined): PreEscapedHtml =>
  html`<p class="fault" id="${id}-fault" ${fault === undefined ? html` hidden` : undefined}>${fault}</p>`;
