/** Whose keys or endpoints a page shows. */
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { restate } from "#pages/console/browser/navigation.tsx";
import type { InstallationName } from "./installation-documents.ts";

interface InstallationChoiceProps {
  readonly all: readonly InstallationName[];
  readonly chosen: InstallationName;
  /** The page below /console that is said anew with the choice. */
  readonly room: string;
}

export function InstallationChoice({ all, chosen, room }: InstallationChoiceProps): JSX.Element {
  const id = useId();
  return (
    <div class="pick">
      <label for={id}>Installation</label>
      <select id={id} value={chosen.id} onChange={({ currentTarget }) => restate(`${room}?installation=${currentTarget.value}`)}>
        {all.map((installation) => (
          <option key={installation.id} value={installation.id}>
            {installation.app.name}
            {installation.status === "ACTIVE" ? "" : ` (${installation.status.toLowerCase()})`}
          </option>
        ))}
      </select>
    </div>
  );
}
