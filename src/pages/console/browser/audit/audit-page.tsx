/**
 * The page of the audit log. Its filter is part of the page's URL, so that a link to the filtered log can be
 * shared, and reloading keeps the filter.
 */
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { getGraphqlConnectionNodes } from "#pages/console/browser/graph/documents.ts";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  type ConsoleLocation,
  PageHeading,
  replaceConsoleUrlInHistory,
} from "#pages/console/browser/navigation.tsx";
import { timeZone } from "#pages/console/browser/parts/formats.tsx";
import { getAuditActionsOfGroup, formatAuditAction, auditActionGroups } from "./action-words.ts";
import {
  type ConsoleAuditActorKind,
  auditActorsDocument,
  type AuditLogApiKey,
  type AuditLogFilter,
  type AuditLogStaffMember,
} from "./audit-documents.ts";
import { AuditEntryList } from "./audit-list.tsx";
import "#pages/console/browser/parts/filters.css";

/** The kinds of actors by which the audit log can be filtered, by the value that names them in the page's URL. */
const actorKinds: Readonly<Record<string, { readonly actor: ConsoleAuditActorKind; readonly name: string }>> =
  {
    staff: { actor: "STAFF", name: "All staff" },
    keys: { actor: "API_KEY", name: "All apps with an API key" },
    oauth: { actor: "OAUTH_CLIENT", name: "All apps with an OAuth grant" },
    platform: { actor: "OPERATOR", name: "The platform" },
    command: { actor: "COMMAND", name: "The platform’s operator, at the command line" },
    system: { actor: "SYSTEM", name: "The service itself" },
  };

const isDay = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(new Date(`${text}T00:00`).getTime());

/** Returns the time at which a day begins in the reader's time zone, shifted by a number of days. */
function dayStart(day: string, days: number): string {
  const start = new Date(`${day}T00:00`);
  start.setDate(start.getDate() + days);
  return start.toISOString();
}

/** Reads the filter of the audit log from the page's URL. Invalid values are ignored. */
export function parseAuditLogFilter(query: URLSearchParams): AuditLogFilter {
  const [by, from, to] = [query.get("by"), query.get("from"), query.get("to")];
  const kind = by === null ? undefined : actorKinds[by];
  return {
    actor: kind?.actor ?? null,
    actorId: kind === undefined ? by : null,
    action: query.get("action"),
    targetId: query.get("target"),
    from: isDay(from) ? dayStart(from, 0) : null,
    to: isDay(to) ? dayStart(to, 1) : null,
  };
}

export function AuditPage({ place }: { readonly place: ConsoleLocation }): JSX.Element {
  const filter = parseAuditLogFilter(place.query);
  const actors = useNamedActors();
  const names = new Map([...actors.people, ...actors.keys].map(({ id, name }) => [id, name]));
  const isFiltered = Object.values(filter).some((value) => value !== null);
  return (
    <>
      <PageHeading title="Audit log">
        {isFiltered ? (
          <button type="button" class="second" onClick={() => replaceConsoleUrlInHistory("/audit")}>
            Clear the filters
          </button>
        ) : undefined}
      </PageHeading>
      <p class="lead">
        Who changed what, and when: staff, apps and the platform. Entries are never changed or deleted.
        Changes that buyers make in your storefront are not recorded here. Days are in the time zone{" "}
        {timeZone}.
      </p>
      <AuditFilters query={place.query} actors={actors} />
      <AuditEntryList
        filter={filter}
        names={names}
        empty={
          isFiltered
            ? "No entry matches these filters. Clear a filter to see more."
            : "Nothing was changed yet. Create an API key or invite a colleague, and the entry appears here."
        }
      />
    </>
  );
}

interface NamedActors {
  readonly actors: {
    readonly people: readonly AuditLogStaffMember[];
    /** The API keys by which the log can be filtered, newest first. */
    readonly keys: readonly AuditLogApiKey[];
  };
}

/**
 * Loads the staff members and API keys by which the audit log can be filtered. Returns an empty list until
 * they are loaded.
 */
function useNamedActors(): NamedActors["actors"] {
  const { data } = useGraphqlQuery(auditActorsDocument, {});
  return data === undefined
    ? { people: [], keys: [] }
    : {
        people: getGraphqlConnectionNodes(data.staffAccounts),
        keys: getGraphqlConnectionNodes(data.apiKeys).toReversed(),
      };
}

interface AuditFiltersProps extends NamedActors {
  readonly query: URLSearchParams;
}

function AuditFilters({ query, actors }: AuditFiltersProps): JSX.Element {
  const set = (name: string, value: string): void => {
    const next = new URLSearchParams(query);
    if (value === "") next.delete(name);
    else next.set(name, value);
    replaceConsoleUrlInHistory(`/audit${next.size === 0 ? "" : `?${next}`}`);
  };
  const id = useId();
  const day = (name: "from" | "to", label: string): JSX.Element => (
    <div>
      <label for={`${id}-${name}`}>{label}</label>
      <input
        id={`${id}-${name}`}
        type="date"
        value={query.get(name) ?? ""}
        onChange={({ currentTarget }) => set(name, currentTarget.value)}
      />
    </div>
  );
  return (
    <div class="filters" role="search" aria-label="Filters of the audit log">
      <ActorFilter value={query.get("by") ?? ""} actors={actors} onChange={(value) => set("by", value)} />
      <ActionFilter value={query.get("action") ?? ""} onChange={(value) => set("action", value)} />
      {day("from", "From")}
      {day("to", "To")}
      <TargetFilter value={query.get("target") ?? ""} onChange={(value) => set("target", value)} />
    </div>
  );
}

interface FilterProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ActorFilter({ value, onChange, actors: { people, keys } }: FilterProps & NamedActors): JSX.Element {
  const id = useId();
  const known = [...Object.keys(actorKinds), ...people.map((one) => one.id), ...keys.map((one) => one.id)];
  return (
    <div>
      <label for={id}>Who</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">Everyone</option>
        {value === "" || known.includes(value) ? null : <option value={value}>{value}</option>}
        {Object.entries(actorKinds).map(([kind, { name }]) => (
          <option key={kind} value={kind}>
            {name}
          </option>
        ))}
        <optgroup label="Staff">
          {people.map((person) => (
            <option key={person.id} value={person.id}>
              {person.name} ({person.email})
            </option>
          ))}
        </optgroup>
        <optgroup label="API keys">
          {keys.map((key) => (
            <option key={key.id} value={key.id}>
              {key.installation.app.name}: {key.name} (…{key.lastFour})
            </option>
          ))}
        </optgroup>
      </select>
    </div>
  );
}

function ActionFilter({ value, onChange }: FilterProps): JSX.Element {
  const id = useId();
  const groups = Object.keys(auditActionGroups);
  const isKnown = groups.some((group) => getAuditActionsOfGroup(group).includes(value));
  return (
    <div>
      <label for={id}>Did what</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">Anything</option>
        {value === "" || isKnown ? null : <option value={value}>{value}</option>}
        {groups.map((group) => (
          <optgroup key={group} label={group}>
            {getAuditActionsOfGroup(group).map((action) => (
              <option key={action} value={action}>
                {formatAuditAction(action) ?? action}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </div>
  );
}

function TargetFilter({ value, onChange }: FilterProps): JSX.Element {
  const id = useId();
  return (
    <div>
      <label for={id}>Changed object</label>
      <input
        id={id}
        value={value}
        placeholder="Id, for example cart_…"
        autocomplete="off"
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
      />
    </div>
  );
}
