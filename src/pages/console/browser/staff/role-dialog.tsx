/** The choice of a staff member's role, and the dialog that changes the role of an account. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { GraphqlRequestError } from "#pages/console/browser/graph/client.ts";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { Dialog, DialogFormButtons } from "#pages/console/browser/parts/dialogs.tsx";
import { FailureBanner, SelectField } from "#pages/console/browser/parts/fields.tsx";
import { type ConsoleStaffRole, setRoleDocument, type StaffMember } from "./staff-documents.ts";

export const roleNames: Readonly<Record<ConsoleStaffRole, string>> = { ADMIN: "Admin", ANALYST: "Analyst" };

const roleOptions = [
  { value: "ADMIN", label: "Admin: sees and changes everything" },
  { value: "ANALYST", label: "Analyst: sees reports, without buyers’ data" },
] as const;

interface RoleFieldProps {
  readonly value: ConsoleStaffRole;
  readonly failure: GraphqlRequestError | undefined;
  readonly onChange: (role: ConsoleStaffRole) => void;
}

export function StaffRoleField({ value, failure, onChange }: RoleFieldProps): JSX.Element {
  return (
    <SelectField
      label="Role"
      hint="An analyst can open the reports and query the data in GraphiQL, where names and addresses of buyers are hidden."
      pointer="/role"
      failure={failure}
      name="role"
      value={value}
      options={roleOptions}
      onChange={onChange}
    />
  );
}

interface RoleDialogProps {
  readonly member: StaffMember;
  /** True if the staff account is that of the signed-in staff member. */
  readonly isSelf: boolean;
  /** True if the staff account is the merchant's only enabled admin. */
  readonly isLastAdmin: boolean;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

export function StaffRoleDialog({ member, isSelf, isLastAdmin, ...on }: RoleDialogProps): JSX.Element {
  const [role, setRole] = useState<ConsoleStaffRole>(member.role);
  const { isBusy, failure, run } = useGraphqlMutation(setRoleDocument);
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    if (role !== member.role) {
      if ((await run({ input: { staffId: member.id, role } })) === undefined) return;
      if (isSelf) return location.reload();
      on.onChanged();
    }
    on.onClose();
  };
  if (isLastAdmin)
    return (
      <Dialog title="This is the only admin" onClose={on.onClose}>
        <p>
          If you make this account an analyst, no one of your shop can change anything any more. Make a
          colleague an admin first.
        </p>
        <div class="actions">
          <button type="button" onClick={on.onClose}>
            Keep the role
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={`Role of ${member.name}`} onClose={on.onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <FailureBanner failure={failure} shown={["/role"]} />
        <p>
          {isSelf
            ? "This is your own account. After a change you are signed out everywhere, also here."
            : `After a change ${member.name} is signed out everywhere and signs in again.`}{" "}
          Apps that the account allowed keep their access.
        </p>
        <StaffRoleField value={role} failure={failure} onChange={setRole} />
        <DialogFormButtons action="Save the role" isBusy={isBusy} onCancel={on.onClose} />
      </form>
    </Dialog>
  );
}
