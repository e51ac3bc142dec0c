/** The dialogs that invite a colleague, set a password, and disable or enable an account. */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { consolePath } from "#pages/console/browser/graph/client.ts";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import {
  ConfirmDialog,
  CopyableSecretField,
  Dialog,
  DialogFormButtons,
} from "#pages/console/browser/parts/dialogs.tsx";
import { FailureBanner, TextField } from "#pages/console/browser/parts/fields.tsx";
import {
  createStaffDocument,
  disableStaffDocument,
  enableStaffDocument,
  setPasswordDocument,
  type ConsoleStaffRole,
  type StaffMember,
} from "./staff-documents.ts";
import { StaffRoleField } from "./role-dialog.tsx";

interface InviteProps {
  readonly onMade: () => void;
  readonly onClose: () => void;
}

export function InviteStaffDialog({ onMade, onClose }: InviteProps): JSX.Element {
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<ConsoleStaffRole>("ADMIN");
  const [password, setPassword] = useState<string>();
  const { isBusy, failure, run } = useGraphqlMutation(createStaffDocument);
  const invite = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const made = await run({ input: { name, email: email.trim(), role } });
    if (made === undefined) return;
    setPassword(made.staffCreate.password ?? "");
    onMade();
  };
  if (password !== undefined)
    return (
      <NewPasswordDialog
        title={`${name.trim()} can sign in now`}
        email={email.trim()}
        password={password}
        onClose={onClose}
      />
    );
  return (
    <Dialog title="Invite a colleague" onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void invite(event)} noValidate>
        <FailureBanner failure={failure} shown={["/name", "/email", "/role"]} />
        <p>
          A password is generated and shown to you once, so that you can pass it on to your colleague. No
          e-mail is sent.
        </p>
        <TextField
          label="Name"
          hint="As it is shown in the audit log."
          pointer="/name"
          failure={failure}
          name="name"
          value={name}
          onChange={setName}
        />
        <TextField
          label="E-mail address"
          hint="To sign in with. No other account, also of another shop, can have the same address."
          pointer="/email"
          failure={failure}
          name="email"
          value={email}
          onChange={setEmail}
          input={{ type: "email", inputMode: "email" }}
        />
        <StaffRoleField value={role} failure={failure} onChange={setRole} />
        <DialogFormButtons action="Create the account" isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

interface NewPasswordProps {
  readonly title: string;
  readonly email: string;
  readonly password: string;
  readonly onClose: () => void;
}

/**
 * Shows a generated password with the URL at which the staff member signs in. The password is shown only
 * once.
 */
function NewPasswordDialog({ title, email, password, onClose }: NewPasswordProps): JSX.Element {
  return (
    <Dialog title={title} onClose={onClose} isFirm>
      <p>
        <strong>Copy the password now: it cannot be shown again.</strong> Pass it on so that no other person
        can read it, for example with a password manager.
      </p>
      <CopyableSecretField label="Sign-in page" value={`${location.origin}${consolePath}`} />
      <CopyableSecretField label="E-mail address to sign in with" value={email} />
      <CopyableSecretField label="Password" value={password} />
      <div class="actions">
        <button type="button" onClick={onClose}>
          I have stored it
        </button>
      </div>
    </Dialog>
  );
}

interface MemberDialogProps {
  readonly member: StaffMember;
  /** True if the staff account is that of the signed-in staff member. */
  readonly isSelf: boolean;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/**
 * Reloads the page after staff members have changed their own account. The change has ended their sessions,
 * so the service then shows the sign-in page.
 */
const signInAgain = (): void => location.reload();

export function SetPasswordDialog({ member, isSelf, onChanged, onClose }: MemberDialogProps): JSX.Element {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [isRevoking, setRevoking] = useState(false);
  const [generated, setGenerated] = useState<string>();
  const { isBusy, failure, run } = useGraphqlMutation(setPasswordDocument);
  const end = (): void => {
    if (isSelf) return signInAgain();
    onChanged();
    onClose();
  };
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const password = typed === "" ? null : typed;
    const done = await run({ input: { staffId: member.id, password, revokeGrants: isRevoking } });
    if (done === undefined) return;
    if (done.staffPasswordSet.password === null) end();
    else setGenerated(done.staffPasswordSet.password);
  };
  const title = isSelf ? "New password for yourself" : `New password for ${member.name}`;
  if (generated !== undefined)
    return <NewPasswordDialog title={title} email={member.email} password={generated} onClose={end} />;
  return (
    <Dialog title={title} onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <FailureBanner failure={failure} shown={["/password"]} />
        <p>
          {isSelf
            ? "You are signed out everywhere, also here, and sign in again with the new password."
            : `${member.name} is signed out everywhere and signs in again with the new password.`}
        </p>
        <TextField
          label="Password (optional)"
          hint="12 to 256 characters. If you leave it empty, a password is generated and shown once."
          pointer="/password"
          failure={failure}
          name="password"
          value={typed}
          onChange={setTyped}
          input={{ type: "password" }}
        />
        <div class="choice">
          <input
            type="checkbox"
            id={id}
            checked={isRevoking}
            aria-describedby={`${id}-hint`}
            onChange={({ currentTarget }) => setRevoking(currentTarget.checked)}
          />
          <label for={id}>Also take back the access that {isSelf ? "I" : member.name} gave to apps</label>
          <span id={`${id}-hint`}>
            Choose this if someone else knew the old password. The apps then stop working until they are
            allowed again.
          </span>
        </div>
        <DialogFormButtons action="Set the password" isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

interface DisableProps extends MemberDialogProps {
  /** True if the staff account is the merchant's only enabled admin. */
  readonly isLastAdmin: boolean;
}

export function DisableStaffDialog({
  member,
  isSelf,
  isLastAdmin,
  onChanged,
  onClose,
}: DisableProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(disableStaffDocument);
  const disable = async (): Promise<void> => {
    if ((await run({ input: { staffId: member.id } })) === undefined) return;
    if (isSelf) return signInAgain();
    onChanged();
    onClose();
  };
  if (isLastAdmin)
    return (
      <Dialog title="This is the only admin" onClose={onClose}>
        <p>
          If you disable the account, no one of your shop can change anything any more, and only the operator
          of the platform can undo that. Invite a colleague as an admin first, or make one an admin.
        </p>
        <div class="actions">
          <button type="button" onClick={onClose}>
            Keep the account
          </button>
        </div>
      </Dialog>
    );
  return (
    <ConfirmDialog
      title={isSelf ? "Disable your own account?" : `Disable the account of ${member.name}?`}
      action={isSelf ? "Disable my account" : "Disable the account"}
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void disable()}
      onClose={onClose}
    >
      {isSelf ? (
        <p>
          <strong>This is your own account.</strong> You are signed out at once and cannot sign in again until
          a colleague enables the account.
        </p>
      ) : (
        <p>{member.name} is signed out everywhere at once and cannot sign in until you enable the account.</p>
      )}
      <p>
        The access that {isSelf ? "you" : member.name} gave to apps is revoked. It stays revoked when the
        account is enabled again. Entries of the audit log stay.
      </p>
    </ConfirmDialog>
  );
}

export function EnableStaffDialog({ member, onChanged, onClose }: MemberDialogProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(enableStaffDocument);
  const enable = async (): Promise<void> => {
    if ((await run({ input: { staffId: member.id } })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Enable the account of ${member.name}?`}
      action="Enable the account"
      isHarmless
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void enable()}
      onClose={onClose}
    >
      <p>
        {member.name} can sign in again with the old password. Apps to which {member.name} had given access
        have to ask for it again.
      </p>
    </ConfirmDialog>
  );
}
