/**
 * Form fields with their label, hint and errors (text, select, checkboxes), and the banner for a request that
 * failed.
 */
import type { InputHTMLAttributes, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { GraphqlRequestError } from "#pages/console/browser/graph/client.ts";

interface Described {
  readonly id: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /**
   * The JSON pointer of the GraphQL input field behind this form field. Faults that the service reports with
   * this pointer are shown at the form field.
   */
  readonly pointer: string;
  readonly failure: GraphqlRequestError | undefined;
  readonly control: (described: Described) => JSX.Element;
}

function Field({ label, hint, pointer, failure, control }: FieldProps): JSX.Element {
  const id = useId();
  const faults = getFormFieldFaultTexts(failure, pointer).map((text) => nameByLabel(text, pointer, label));
  const described = [hint === undefined ? [] : [`${id}-hint`], faults.length === 0 ? [] : [`${id}-fault`]]
    .flat()
    .join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {control({
        id,
        "aria-invalid": faults.length > 0,
        "aria-describedby": described === "" ? undefined : described,
      })}
      <FormFieldFaultList id={`${id}-fault`} faults={faults} />
    </div>
  );
}

/** Replaces the name of the GraphQL input field at the start of an error message by the form field's label. */
function nameByLabel(message: string, pointer: string, label: string): string {
  const name = `"${pointer.slice(1)}" `;
  return message.startsWith(name) ? `“${label}” ${message.slice(name.length)}` : message;
}

export function FormFieldFaultList({
  id,
  faults,
}: {
  readonly id: string;
  readonly faults: readonly string[];
}): JSX.Element | null {
  return faults.length === 0 ? null : (
    <p class="fault" id={id}>
      {faults.join(" ")}
    </p>
  );
}

interface TextFieldProps extends Omit<FieldProps, "control"> {
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Additional HTML attributes of the form control, for example its type. */
  readonly input?: InputHTMLAttributes;
}

export function TextField({ name, value, onChange, input = {}, ...field }: TextFieldProps): JSX.Element {
  const control = (described: Described): JSX.Element => (
    <input
      {...input}
      {...described}
      name={name}
      value={value}
      autocomplete="off"
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
  return <Field {...field} control={control} />;
}

interface SelectFieldProps<Value extends string> extends Omit<FieldProps, "control"> {
  readonly name: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
}

export function SelectField<Value extends string>({
  name,
  value,
  options,
  onChange,
  ...field
}: SelectFieldProps<Value>): JSX.Element {
  const choose = (text: string): void => {
    const option = options.find((one) => one.value === text);
    if (option !== undefined) onChange(option.value);
  };
  const control = (described: Described): JSX.Element => (
    <select
      {...described}
      name={name}
      value={value}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
  return <Field {...field} control={control} />;
}

/** A banner that shows the message and the request id of a failed request. */
interface BannerProps {
  readonly failure: GraphqlRequestError | undefined;
  /** JSON Pointers of the form fields that show their own errors. The banner does not repeat these errors. */
  readonly shown?: readonly string[];
  readonly onRetry?: (() => void) | undefined;
}

/** True if a fault's pointer is that of the form field, or of a part of the form field's value. */
const isAt = (pointer: string, field: string): boolean =>
  field === pointer || field.startsWith(`${pointer}/`);

export function getFormFieldFaultTexts(
  failure: GraphqlRequestError | undefined,
  pointer: string,
): readonly string[] {
  const faults = (failure?.details ?? [])
    .filter(({ field }) => isAt(pointer, field))
    .map(({ code, message }) => (/^Too (?:small|big)/.test(message) ? (plain[code] ?? message) : message));
  return [...new Set(faults)];
}

/**
 * Error messages for staff members, by the code of the broken rule. They are shown instead of the messages of
 * GraphQL, which are written for developers.
 */
const plain: Readonly<Record<string, string>> = {
  too_short: "Fill this in.",
  too_long: "This is too long.",
  too_small: "This is too small.",
  too_large: "This is too large.",
};

export function FailureBanner({ failure, shown = [], onRetry }: BannerProps): JSX.Element | null {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (failure === undefined) return;
    // After a failed request, the focus moves to the first invalid field of the form, or to the banner if no
    // field is invalid.
    const field = place.current?.closest("form")?.querySelector<HTMLElement>("[aria-invalid=true]");
    if (place.current?.closest("form")) (field ?? place.current).focus();
  }, [failure]);
  if (failure === undefined) return null;
  const rest = failure.details.filter(
    ({ field, message }) => message !== failure.message && !shown.some((pointer) => isAt(pointer, field)),
  );
  const areAllFieldFaults =
    failure.details.length > 0 &&
    failure.details.every(({ field }) => shown.some((pointer) => isAt(pointer, field)));
  return (
    <div class="banner" role="alert" tabIndex={-1} ref={place}>
      <p>
        <strong>{areAllFieldFaults ? "The form has errors. They are shown below." : failure.message}</strong>
      </p>
      {rest.length === 0 ? null : (
        <ul>
          {rest.map(({ field, message }) => (
            <li key={field}>
              <code>{field}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {failure.code === undefined ? null : (
        <p class="trace">
          {failure.docUrl === undefined ? (
            <code>{failure.code}</code>
          ) : (
            <a href={failure.docUrl}>{failure.code}</a>
          )}
          {failure.requestId === undefined ? null : (
            <>
              {" · "}
              Request <code>{failure.requestId}</code>
            </>
          )}
        </p>
      )}
      {onRetry === undefined ? null : (
        <button type="button" class="second" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** The properties of a form field that consists of a group of checkboxes. */
interface ChoicesProps {
  readonly legend: string;
  readonly hint?: string;
  readonly pointer: string;
  readonly failure: GraphqlRequestError | undefined;
  readonly choices: readonly {
    readonly value: string;
    readonly label: string;
    readonly hint?: string | undefined;
    readonly isFixed?: boolean;
  }[];
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

export function CheckboxGroup({
  legend,
  hint,
  pointer,
  failure,
  choices,
  chosen,
  onChange,
}: ChoicesProps): JSX.Element {
  const id = useId();
  const faults = getFormFieldFaultTexts(failure, pointer);
  const turn = (value: string, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(value);
    else next.delete(value);
    onChange(next);
  };
  return (
    <fieldset aria-describedby={faults.length === 0 ? undefined : `${id}-fault`}>
      <legend>{legend}</legend>
      {hint === undefined ? null : <p class="hint">{hint}</p>}
      <FormFieldFaultList id={`${id}-fault`} faults={faults} />
      {choices.map(({ value, label, hint: more, isFixed = false }, index) => (
        <div class="choice" key={value}>
          <input
            type="checkbox"
            id={`${id}-${index}`}
            checked={chosen.has(value) || isFixed}
            disabled={isFixed}
            aria-invalid={faults.length > 0}
            aria-describedby={more === undefined ? undefined : `${id}-${index}-hint`}
            onChange={({ currentTarget }) => turn(value, currentTarget.checked)}
          />
          <label for={`${id}-${index}`}>{label}</label>
          {more === undefined ? null : <span id={`${id}-${index}-hint`}>{more}</span>}
        </div>
      ))}
    </fieldset>
  );
}
