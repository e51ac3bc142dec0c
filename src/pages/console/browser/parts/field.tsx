/** A control with its label, what helps to fill it in, and what is wrong with it. */
import type { InputHTMLAttributes, JSX } from "preact";
import { useId } from "preact/hooks";
import type { GraphFailure } from "#pages/console/browser/graph/client.ts";
import { faultsAt } from "./banner.tsx";

interface Described {
  readonly id: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Where the graph tells its faults: a JSON pointer into the input. */
  readonly pointer: string;
  readonly failure: GraphFailure | undefined;
  readonly control: (described: Described) => JSX.Element;
}

function Field({ label, hint, pointer, failure, control }: FieldProps): JSX.Element {
  const id = useId();
  const faults = faultsAt(failure, pointer);
  const described = [hint === undefined ? [] : [`${id}-hint`], faults.length === 0 ? [] : [`${id}-fault`]].flat().join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {control({ id, "aria-invalid": faults.length > 0, "aria-describedby": described === "" ? undefined : described })}
      <Faults id={`${id}-fault`} faults={faults} />
    </div>
  );
}

export function Faults({ id, faults }: { readonly id: string; readonly faults: readonly string[] }): JSX.Element | null {
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
  /** What is special of the control, for example its type. */
  readonly input?: InputHTMLAttributes;
}

export function TextField({ name, value, onChange, input = {}, ...field }: TextFieldProps): JSX.Element {
  const control = (described: Described): JSX.Element => (
    <input {...input} {...described} name={name} value={value} autocomplete="off" onInput={({ currentTarget }) => onChange(currentTarget.value)} />
  );
  return <Field {...field} control={control} />;
}

interface SelectFieldProps<Value extends string> extends Omit<FieldProps, "control"> {
  readonly name: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
}

export function SelectField<Value extends string>({ name, value, options, onChange, ...field }: SelectFieldProps<Value>): JSX.Element {
  const choose = (text: string): void => {
    const option = options.find((one) => one.value === text);
    if (option !== undefined) onChange(option.value);
  };
  const control = (described: Described): JSX.Element => (
    <select {...described} name={name} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
  return <Field {...field} control={control} />;
}
