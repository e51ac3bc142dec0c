/** How a delivery stands in a table. */
import type { JSX } from "preact";
import { Badge, duration, failureWord, Time } from "#pages/console/browser/parts/formats.tsx";
import type { Column } from "#pages/console/browser/parts/tables.tsx";
import { Link } from "#pages/console/browser/navigation.tsx";
import type { Attempt, Delivery } from "./delivery-documents.ts";

export const deliveryColumns = (replay: (delivery: Delivery) => void): Column<Delivery>[] => [
  {
    title: "Event",
    cell: ({ id, event, replayOf }) => (
      <>
        <Link to={`/deliveries/${id}`}>{event.type}</Link> {replayOf === null ? null : <Badge value="REPLAY" />}
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <Badge value={status} /> },
  { title: "Made", cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: "Attempts", isNumber: true, cell: ({ attemptCount }) => attemptCount },
  { title: "Last answer", cell: ({ lastAttempt }) => <Outcome attempt={lastAttempt} /> },
  { title: "Took", isNumber: true, cell: ({ lastAttempt }) => (lastAttempt === null ? "–" : duration(lastAttempt.durationMs)) },
  { title: "Next attempt", cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} /> },
  {
    title: "Actions",
    cell: (delivery) =>
      delivery.replayable ? (
        <button type="button" class="plain" aria-label={`Replay ${delivery.event.type}`} onClick={() => replay(delivery)}>
          Replay
        </button>
      ) : (
        <span class="soft">–</span>
      ),
  },
];

/** What an attempt came to. */
export function Outcome({ attempt }: { readonly attempt: Attempt | null }): JSX.Element {
  if (attempt === null) return <span class="soft">–</span>;
  const { errorCode, httpStatus } = attempt;
  if (errorCode === null) return <>Answered {httpStatus}</>;
  return <span class="fault">{failureWord(errorCode, httpStatus)}</span>;
}
