/**
 * The form field in which staff select the event types of a webhook endpoint: all types, whole groups of
 * types, or single types.
 */
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { GraphqlRequestError } from "#pages/console/browser/graph/client.ts";
import { FormFieldFaultList, getFormFieldFaultTexts } from "#pages/console/browser/parts/fields.tsx";
import { formatLocalizedCountWithNoun, formatEnumValue } from "#pages/console/browser/parts/formats.tsx";
import type { ConsoleEventType } from "./endpoint-documents.ts";

interface EventTypeChoiceProps {
  readonly types: readonly ConsoleEventType[];
  readonly chosen: ReadonlySet<string>;
  readonly failure: GraphqlRequestError | undefined;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

/** A form field with checkboxes for single event types, for groups of types, and for all types. */
export function EventTypeCheckboxes({ types, chosen, failure, onChange }: EventTypeChoiceProps): JSX.Element {
  const id = useId();
  const refused = getFormFieldFaultTexts(failure, "/eventTypes");
  const faults = refused.length > 0 && chosen.size === 0 ? ["Select at least one event."] : refused;
  const groups = Map.groupBy(types, ({ group }) => group);
  const select = (name: string, isOn: boolean): void => onChange(withName(chosen, name, isOn));
  return (
    <fieldset aria-describedby={faults.length === 0 ? undefined : `${id}-fault`}>
      <legend>Events</legend>
      <FormFieldFaultList id={`${id}-fault`} faults={faults} />
      <Choice
        name="*"
        label="All events"
        hint="Includes event types that are added later."
        isChosen={chosen.has("*")}
        isInvalid={faults.length > 0}
        onSelect={select}
      />
      {chosen.has("*")
        ? null
        : [...groups].map(([group, members]) => (
            <Group key={group} group={group} members={members} chosen={chosen} onSelect={select} />
          ))}
    </fieldset>
  );
}

/**
 * Returns the selected names after a name was selected or deselected. Selecting “all events” deselects
 * everything else; selecting a group deselects its members.
 */
function withName(chosen: ReadonlySet<string>, name: string, isOn: boolean): ReadonlySet<string> {
  if (!isOn) return new Set([...chosen].filter((other) => other !== name));
  if (name === "*") return new Set(["*"]);
  const rest = [...chosen].filter((other) => !name.endsWith(".*") || !other.startsWith(name.slice(0, -1)));
  return new Set([...rest, name]);
}

type SelectEventType = (name: string, isOn: boolean) => void;

interface GroupProps {
  readonly group: string;
  readonly members: readonly ConsoleEventType[];
  readonly chosen: ReadonlySet<string>;
  readonly onSelect: SelectEventType;
}

function Group({ group, members, chosen, onSelect }: GroupProps): JSX.Element {
  const whole = `${group}.*`;
  const isWhole = chosen.has(whole);
  const some = members.filter(({ name }) => chosen.has(name)).length;
  return (
    <details class="group" open={some > 0}>
      <summary>
        {formatEnumValue(group)}{" "}
        <span class="soft">
          {isWhole
            ? "all"
            : some > 0
              ? `${some} of ${members.length}`
              : formatLocalizedCountWithNoun(members.length, "event")}
        </span>
      </summary>
      <Choice
        name={whole}
        label={`All of ${formatEnumValue(group).toLowerCase()}`}
        hint="Includes event types that are added later."
        isChosen={isWhole}
        onSelect={onSelect}
      />
      {members.map(({ name, description }) => (
        <Choice
          key={name}
          name={name}
          label={name}
          hint={description}
          isChosen={isWhole || chosen.has(name)}
          isFixed={isWhole}
          onSelect={onSelect}
        />
      ))}
    </details>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly isChosen: boolean;
  readonly isFixed?: boolean;
  readonly isInvalid?: boolean;
  readonly onSelect: SelectEventType;
}

function Choice({
  name,
  label,
  hint,
  isChosen,
  isFixed = false,
  isInvalid = false,
  onSelect,
}: ChoiceProps): JSX.Element {
  const id = useId();
  return (
    <div class="choice">
      <input
        type="checkbox"
        id={id}
        checked={isChosen}
        disabled={isFixed}
        aria-invalid={isInvalid}
        aria-describedby={`${id}-hint`}
        onChange={({ currentTarget }) => onSelect(name, currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      <span id={`${id}-hint`}>{hint}</span>
    </div>
  );
}
