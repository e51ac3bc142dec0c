/** Which events an endpoint listens to: all, whole groups, or one by one. */
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { GraphFailure } from "#pages/console/browser/graph/client.ts";
import { Faults, faultsAt } from "#pages/console/browser/parts/fields.tsx";
import { count, wordOf } from "#pages/console/browser/parts/formats.tsx";
import type { EventType } from "./endpoint-documents.ts";

interface EventChoiceProps {
  readonly types: readonly EventType[];
  readonly chosen: ReadonlySet<string>;
  readonly failure: GraphFailure | undefined;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

export function EventChoice({ types, chosen, failure, onChange }: EventChoiceProps): JSX.Element {
  const id = useId();
  const told = faultsAt(failure, "/eventTypes");
  const faults = told.length > 0 && chosen.size === 0 ? ["Choose one at least."] : told;
  const groups = Map.groupBy(types, ({ group }) => group);
  const turn = (name: string, isOn: boolean): void => onChange(withName(chosen, name, isOn));
  return (
    <fieldset aria-describedby={faults.length === 0 ? undefined : `${id}-fault`}>
      <legend>Events</legend>
      <Faults id={`${id}-fault`} faults={faults} />
      <Choice name="*" label="Everything" hint="Also what is added later." isChosen={chosen.has("*")} isInvalid={faults.length > 0} onTurn={turn} />
      {chosen.has("*")
        ? null
        : [...groups].map(([group, members]) => <Group key={group} group={group} members={members} chosen={chosen} onTurn={turn} />)}
    </fieldset>
  );
}

/** Everything leaves nothing beside it, and a group none of its own. */
function withName(chosen: ReadonlySet<string>, name: string, isOn: boolean): ReadonlySet<string> {
  if (!isOn) return new Set([...chosen].filter((other) => other !== name));
  if (name === "*") return new Set(["*"]);
  const rest = [...chosen].filter((other) => !name.endsWith(".*") || !other.startsWith(name.slice(0, -1)));
  return new Set([...rest, name]);
}

type Turn = (name: string, isOn: boolean) => void;

interface GroupProps {
  readonly group: string;
  readonly members: readonly EventType[];
  readonly chosen: ReadonlySet<string>;
  readonly onTurn: Turn;
}

function Group({ group, members, chosen, onTurn }: GroupProps): JSX.Element {
  const whole = `${group}.*`;
  const isWhole = chosen.has(whole);
  const some = members.filter(({ name }) => chosen.has(name)).length;
  return (
    <details class="group" open={some > 0}>
      <summary>
        {wordOf(group)} <span class="soft">{isWhole ? "all" : some > 0 ? `${some} of ${members.length}` : count(members.length, "event")}</span>
      </summary>
      <Choice name={whole} label={`All of ${wordOf(group).toLowerCase()}`} hint="Also what is added later." isChosen={isWhole} onTurn={onTurn} />
      {members.map(({ name, description }) => (
        <Choice key={name} name={name} label={name} hint={description} isChosen={isWhole || chosen.has(name)} isFixed={isWhole} onTurn={onTurn} />
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
  readonly onTurn: Turn;
}

function Choice({ name, label, hint, isChosen, isFixed = false, isInvalid = false, onTurn }: ChoiceProps): JSX.Element {
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
        onChange={({ currentTarget }) => onTurn(name, currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      <span id={`${id}-hint`}>{hint}</span>
    </div>
  );
}
