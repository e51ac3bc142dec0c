/** The page of the merchant's staff: their accounts, with the actions on each account. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  getGraphqlConnectionNodes,
  listPageSize,
  getNextPageCursor,
} from "#pages/console/browser/graph/documents.ts";
import { useCursorListPaging, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { ConsoleLink, PageHeading } from "#pages/console/browser/navigation.tsx";
import { StatusBadge, FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import {
  DataTable,
  PaginationButtons,
  QueryResultOrLoadingNote,
  type DataTableColumn,
} from "#pages/console/browser/parts/tables.tsx";
import {
  DisableStaffDialog,
  EnableStaffDialog,
  InviteStaffDialog,
  SetPasswordDialog,
} from "./staff-dialogs.tsx";
import { roleNames, StaffRoleDialog } from "./role-dialog.tsx";
import { type StaffListQueryResult, type StaffMember, staffDocument } from "./staff-documents.ts";

type StaffAction = {
  readonly what: "password" | "role" | "disable" | "enable";
  readonly member: StaffMember;
};

export function StaffPage(): JSX.Element {
  const pages = useCursorListPaging();
  const query = useGraphqlQuery(staffDocument, { first: listPageSize, after: pages.cursor });
  const [isInviting, setInviting] = useState(false);
  const [doing, setDoing] = useState<StaffAction>();
  return (
    <>
      <PageHeading title="Staff">
        <button type="button" onClick={() => setInviting(true)}>
          Invite a colleague
        </button>
      </PageHeading>
      <p class="lead">
        Admins see and change all data of the shop and allow apps to access it. Analysts see the reports, and
        data without names and addresses of buyers in GraphiQL. Give each colleague an own account: the{" "}
        <ConsoleLink to="/audit">audit log</ConsoleLink> then says who did what.
      </p>
      <QueryResultOrLoadingNote query={query} what="staff accounts">
        {(data) => (
          <>
            <DataTable
              caption="Staff accounts, the oldest first"
              columns={columnsWith(data, setDoing)}
              rows={getGraphqlConnectionNodes(data.staffAccounts)}
              keyOf={({ id }) => id}
            />
            <PaginationButtons
              pages={pages}
              what="staff accounts"
              older={getNextPageCursor(data.staffAccounts)}
              isOldestFirst
            />
            {doing === undefined ? null : (
              <OpenDialog
                doing={doing}
                data={data}
                onChanged={query.reload}
                onClose={() => setDoing(undefined)}
              />
            )}
          </>
        )}
      </QueryResultOrLoadingNote>
      {isInviting ? <InviteStaffDialog onMade={query.reload} onClose={() => setInviting(false)} /> : null}
    </>
  );
}

interface OpenDialogProps {
  readonly doing: StaffAction;
  readonly data: StaffListQueryResult;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

function OpenDialog({ doing: { what, member }, data, onChanged, onClose }: OpenDialogProps): JSX.Element {
  const isSelf = member.id === data.viewer.staff?.id;
  const shown = { member, isSelf, onChanged, onClose };
  if (what === "enable") return <EnableStaffDialog {...shown} />;
  if (what === "password") return <SetPasswordDialog {...shown} />;
  const isLastAdmin = isOnlyAdmin(data, member);
  return what === "role" ? (
    <StaffRoleDialog {...shown} isLastAdmin={isLastAdmin} />
  ) : (
    <DisableStaffDialog {...shown} isLastAdmin={isLastAdmin} />
  );
}

/**
 * True if the staff member is certainly the merchant's only enabled admin. False if some accounts are not
 * loaded, because one of them may be another admin.
 */
const isOnlyAdmin = ({ staffAccounts }: StaffListQueryResult, member: StaffMember): boolean =>
  member.role === "ADMIN" &&
  !staffAccounts.pageInfo.hasNextPage &&
  !staffAccounts.pageInfo.hasPreviousPage &&
  getGraphqlConnectionNodes(staffAccounts).every(
    ({ id, role, disabledAt }) => id === member.id || role !== "ADMIN" || disabledAt !== null,
  );

function columnsWith(
  { viewer }: StaffListQueryResult,
  begin: (doing: StaffAction) => void,
): DataTableColumn<StaffMember>[] {
  return [
    {
      title: "Name",
      cell: ({ id, name, email }) => (
        <>
          <strong>{name}</strong> {id === viewer.staff?.id ? <StatusBadge value="YOU" text="You" /> : null}
          <br />
          <span class="soft">{email}</span>
        </>
      ),
    },
    {
      title: "State, role",
      cell: ({ role, disabledAt }) => (
        <>
          <StatusBadge value={disabledAt === null ? "ACTIVE" : "DISABLED"} /> {roleNames[role]}
        </>
      ),
    },
    {
      title: "Last sign-in",
      cell: ({ lastSignedInAt }) => <FormattedTime at={lastSignedInAt} otherwise="never" isMinute />,
    },
    { title: "Created", cell: ({ createdAt }) => <FormattedTime at={createdAt} isDay /> },
    {
      title: "Activity",
      cell: ({ id, name }) => (
        <ConsoleLink to={`/audit?by=${id}`}>
          Changes<span class="hidden"> of {name}</span>
        </ConsoleLink>
      ),
    },
    { title: "Actions", cell: (member) => <MemberActions member={member} begin={begin} /> },
  ];
}

interface MemberActionsProps {
  readonly member: StaffMember;
  readonly begin: (doing: StaffAction) => void;
}

function MemberActions({ member, begin }: MemberActionsProps): JSX.Element {
  const button = (what: StaffAction["what"], text: string): JSX.Element => (
    <button
      type="button"
      class={what === "disable" ? "plain danger" : "plain"}
      aria-label={`${text} ${member.name}`}
      onClick={() => begin({ what, member })}
    >
      {text}
    </button>
  );
  return (
    <div class="actions">
      {member.disabledAt === null ? (
        <>
          {button("role", "Role")}
          {button("password", "New password")}
          {button("disable", "Disable")}
        </>
      ) : (
        button("enable", "Enable")
      )}
    </div>
  );
}
