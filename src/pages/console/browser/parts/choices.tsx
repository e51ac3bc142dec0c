/** Several of a few. */
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { GraphFailure } from "#pages/console/browser/graph/client.ts";
import { faultsAt } from "./banner.tsx";
import { Faults } from "./field.tsx";

interface ChoicesProps {
  readonly legend: string;
  readonly hint?: string;
  readonly pointer: string;
  readonly failure: GraphFailure | undefined;
  readonly choices: readonly { readonly value: string; readonly label: string; readonly hint?: string | undefined; readonly isFixed?: boolean }[];
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

export function Choices({ legend, hint, pointer, failure, choices, chosen, onChange }: ChoicesProps): JSX.Element {
  const id = useId();
  const faults = faultsAt(failure, pointer);
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
      <Faults id={`${id}-fault`} faults={faults} />
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
