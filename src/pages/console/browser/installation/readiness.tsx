/** Whether an installation can do its work: what is to be done first, what is well behind a fold. */
import type { JSX } from "preact";
import { Badge, count, Time, wordOf } from "#pages/console/browser/parts/formats.tsx";
import type { Readiness, ReadinessCheck } from "./installation-documents.ts";

const isOpen = ({ status }: ReadinessCheck): boolean => status === "FAIL" || status === "WARN";

export function ReadinessChecks({ readiness }: { readonly readiness: Readiness }): JSX.Element {
  const open = readiness.checks.filter(isOpen);
  const well = readiness.checks.filter((check) => !isOpen(check));
  const skipped = well.filter(({ status }) => status === "SKIPPED").length;
  return (
    <div class="readiness">
      {open.length === 0 ? (
        <p>Everything is well: there is nothing to do.</p>
      ) : (
        <ul class="checks">
          {open.map((check) => (
            <Check key={check.code} check={check} />
          ))}
        </ul>
      )}
      <details>
        <summary>
          {count(well.length - skipped, open.length === 0 ? "check" : "more check")} passed
          {skipped === 0 ? "" : `, ${skipped} skipped`}
        </summary>
        <ul class="checks">
          {well.map((check) => (
            <Check key={check.code} check={check} />
          ))}
        </ul>
      </details>
    </div>
  );
}

const labels: Readonly<Record<ReadinessCheck["status"], string>> = { PASS: "Passed", WARN: "Look at this", FAIL: "To be done", SKIPPED: "Skipped" };

function Check({ check }: { readonly check: ReadinessCheck }): JSX.Element {
  const { code, status, severity, message, remedy, since } = check;
  // An advisory check that fails stops nothing.
  const tone = status === "FAIL" && severity === "ADVISORY" ? { tone: "warn" as const } : {};
  return (
    <li>
      <Badge value={status} text={labels[status]} {...tone} />
      <div>
        <strong>{wordOf(code)}</strong>
        <p>
          {message}
          {since === null ? null : (
            <>
              {" "}
              Since <Time at={since} />.
            </>
          )}
        </p>
        {remedy === null ? null : <p class="remedy">{remedy}</p>}
      </div>
    </li>
  );
}
