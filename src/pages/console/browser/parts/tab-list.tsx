/**
 * A row of tabs. The content of the selected tab is shown below the row. The arrow keys, Home and End move
 * between the tabs.
 */
import type { ComponentChildren, JSX } from "preact";
import { useId, useRef, useState } from "preact/hooks";

interface Tab {
  readonly name: string;
  readonly panel: () => ComponentChildren;
}

interface TabListProps {
  /** The name of the row of tabs for screen readers. */
  readonly label: string;
  readonly tabs: readonly Tab[];
}

export function TabList({ label, tabs }: TabListProps): JSX.Element {
  const id = useId();
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const next = nextTab(event.key, chosen, tabs.length);
    if (next === undefined) return;
    event.preventDefault();
    setChosen(next);
    list.current?.querySelectorAll("button")[next]?.focus();
  };
  return (
    <>
      <div ref={list} role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-selected={index === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={index === chosen ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${chosen}`} tabIndex={0}>
        {tabs[chosen]?.panel()}
      </div>
    </>
  );
}

/**
 * Returns the index of the tab to which a pressed key moves; undefined for keys that do not move between
 * tabs.
 */
function nextTab(key: string, chosen: number, count: number): number | undefined {
  if (key === "ArrowRight") return (chosen + 1) % count;
  if (key === "ArrowLeft") return (chosen + count - 1) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : undefined;
}
