/** A list of audit entries, newest first, with buttons that load older or newer entries. */
import type { ComponentChildren, JSX } from "preact";
import {
  getGraphqlConnectionNodes,
  listPageSize,
  getNextPageCursor,
} from "#pages/console/browser/graph/documents.ts";
import { useCursorListPaging, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  EmptyListNote,
  PaginationButtons,
  QueryResultOrLoadingNote,
} from "#pages/console/browser/parts/tables.tsx";
import { auditDocument, type AuditLogFilter } from "./audit-documents.ts";
import { AuditEntryItem, type StaffAndApiKeyNamesById } from "./audit-entry.tsx";
import "./audit.css";

export const emptyAuditFilter: AuditLogFilter = {
  actor: null,
  actorId: null,
  action: null,
  targetId: null,
  from: null,
  to: null,
};

interface AuditListProps {
  readonly filter: AuditLogFilter;
  /** The text for a list without audit entries, for example because no entry matches the filter. */
  readonly empty: ComponentChildren;
  readonly isOfTarget?: boolean;
  readonly names?: StaffAndApiKeyNamesById;
}

const noNames: StaffAndApiKeyNamesById = new Map();

export function AuditEntryList({
  filter,
  empty,
  isOfTarget = false,
  names = noNames,
}: AuditListProps): JSX.Element {
  const pages = useCursorListPaging(JSON.stringify(filter));
  const query = useGraphqlQuery(auditDocument, { ...filter, first: listPageSize, after: pages.cursor });
  return (
    <QueryResultOrLoadingNote query={query} what="the audit log">
      {({ auditEntries }) => (
        <>
          {auditEntries.edges.length === 0 ? (
            <EmptyListNote>{empty}</EmptyListNote>
          ) : (
            <ol class="audit" aria-label="Audit entries, the newest first">
              {getGraphqlConnectionNodes(auditEntries).map((entry) => (
                <AuditEntryItem key={entry.id} entry={entry} isOfTarget={isOfTarget} names={names} />
              ))}
            </ol>
          )}
          <PaginationButtons pages={pages} what="audit entries" older={getNextPageCursor(auditEntries)} />
        </>
      )}
    </QueryResultOrLoadingNote>
  );
}
