/** A row of tabs. The arrow keys move the focus from tab to tab; the Tab key moves the focus out of the row. */
import type { JSX, TargetedKeyboardEvent } from "preact";

interface TabRowProps<Name extends string> {
  readonly label: string;
  /** The titles of the tabs, by the tabs' names. */
  readonly tabs: Readonly<Record<Name, string>>;
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

/**
 * The number of tabs by which each arrow key moves the focus: 1 means one tab to the right, -1 one tab to the
 * left.
 */
const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export function GraphiqlTabBar<Name extends string>({
  label,
  tabs,
  chosen,
  onChoose,
}: TabRowProps<Name>): JSX.Element {
  const names = Object.keys(tabs).filter((name): name is Name => Object.hasOwn(tabs, name));
  const move = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = steps[event.key];
    const next = names.at((names.indexOf(chosen) + (step ?? 0)) % names.length);
    if (step === undefined || next === undefined) return;
    event.preventDefault();
    onChoose(next);
    event.currentTarget.querySelectorAll<HTMLElement>('[role="tab"]')[names.indexOf(next)]?.focus();
  };
  return (
    <div role="tablist" aria-label={label} class="tab-row" onKeyDown={move}>
      {names.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === chosen}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => onChoose(name)}
        >
          {tabs[name]}
        </button>
      ))}
    </div>
  );
}
