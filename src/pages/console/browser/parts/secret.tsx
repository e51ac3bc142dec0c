/** A secret that is shown this once, with what it takes to keep it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

interface CopiedProps {
  readonly label: string;
  readonly value: string;
}

export function Copied({ label, value }: CopiedProps): JSX.Element {
  const [state, setState] = useState<"" | "Copied." | "Select it and copy it by hand.">("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      setState("Copied.");
    } catch {
      setState("Select it and copy it by hand.");
    }
  };
  return (
    <div class="copied">
      <p class="label">{label}</p>
      <pre tabIndex={0} aria-label={label}>
        <code>{value}</code>
      </pre>
      <button type="button" class="second" onClick={() => void copy()} aria-label={`Copy: ${label}`}>
        Copy
      </button>
      <span class="soft" role="status">
        {state}
      </span>
    </div>
  );
}
