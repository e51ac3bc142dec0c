/** The dialogs that create, rotate and revoke an API key. A new key is shown only once. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import type { InstallationSummary } from "#pages/console/browser/installations/installation-documents.ts";
import {
  FailureBanner,
  CheckboxGroup,
  SelectField,
  TextField,
} from "#pages/console/browser/parts/fields.tsx";
import {
  ConfirmDialog,
  CopyableSecretField,
  Dialog,
  DialogFormButtons,
} from "#pages/console/browser/parts/dialogs.tsx";
import { listPermissionChoices, toGraphqlScopeEnumValue } from "#pages/console/browser/parts/permissions.ts";
import { FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import { basePath } from "#pages/console/browser/graph/client.ts";
import {
  type ConsoleApiKey,
  createKeyDocument,
  revokeKeyDocument,
  rotateKeyDocument,
} from "./key-documents.ts";

interface CreateKeyProps {
  readonly installation: InstallationSummary;
  readonly onMade: () => void;
  readonly onClose: () => void;
}

export function CreateApiKeyDialog({ installation, onMade, onClose }: CreateKeyProps): JSX.Element {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    new Set(installation.scopes.filter((scope) => scope.endsWith(":read"))),
  );
  const [days, setDays] = useState<Ending>("");
  const [value, setValue] = useState<string>();
  const { isBusy, failure, run } = useGraphqlMutation(createKeyDocument);
  const create = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const scopes = [...chosen].toSorted().map(toGraphqlScopeEnumValue);
    const made = await run({
      input: { installationId: installation.id, name, scopes, expiresAt: endOf(days) },
    });
    if (made === undefined) return;
    setValue(made.apiKeyCreate.value);
    onMade();
  };
  if (value !== undefined)
    return <NewKeyDialog title={`The key “${name.trim()}” was created`} value={value} onClose={onClose} />;
  return (
    <Dialog title={`Create a key for ${installation.app.name}`} onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void create(event)} noValidate>
        <FailureBanner failure={failure} shown={["/name", "/scopes", "/expiresAt"]} />
        <TextField
          label="Name"
          hint="The purpose of the key, for example “Shop search”."
          pointer="/name"
          failure={failure}
          name="name"
          value={name}
          onChange={setName}
        />
        <CheckboxGroup
          legend="Permissions"
          hint="Choose only what the program needs. A key cannot have more permissions than its app."
          pointer="/scopes"
          failure={failure}
          choices={listPermissionChoices(installation.scopes)}
          chosen={chosen}
          onChange={setChosen}
        />
        <SelectField
          label="Expires"
          pointer="/expiresAt"
          failure={failure}
          name="ends"
          value={days}
          options={endings}
          onChange={setDays}
        />
        <DialogFormButtons action="Create the key" isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

/** The dialog that replaces an API key by a new one (rotation). */
interface RotateKeyProps {
  readonly apiKey: ConsoleApiKey;
  readonly onRotated: () => void;
  readonly onClose: () => void;
}

export function RotateApiKeyDialog({ apiKey, onRotated, onClose }: RotateKeyProps): JSX.Element {
  const [hours, setHours] = useState("24");
  const [days, setDays] = useState<Ending>("");
  const [value, setValue] = useState<string>();
  const { isBusy, failure, run } = useGraphqlMutation(rotateKeyDocument);
  const rotate = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const made = await run({
      input: { apiKeyId: apiKey.id, overlapHours: Math.trunc(Number(hours)), expiresAt: endOf(days) },
    });
    if (made === undefined) return;
    setValue(made.apiKeyRotate.value);
    onRotated();
  };
  if (value !== undefined)
    return (
      <NewKeyDialog title={`The new key “${apiKey.name}” was created`} value={value} onClose={onClose} />
    );
  return (
    <Dialog title={`Rotate “${apiKey.name}”`} onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void rotate(event)}>
        <FailureBanner failure={failure} shown={["/overlapHours", "/expiresAt"]} />
        <p>
          A new key with the same name and permissions is created. The present key keeps working for the given
          time, so that you can put the new key in place without an interruption.
        </p>
        <TextField
          label="Hours during which both keys work"
          hint="0 to 168. With 0 the present key stops working at once."
          pointer="/overlapHours"
          failure={failure}
          name="overlapHours"
          value={hours}
          onChange={setHours}
          input={{ type: "number", min: 0, max: 168, step: 1, inputMode: "numeric", required: true }}
        />
        <SelectField
          label="The new key expires"
          pointer="/expiresAt"
          failure={failure}
          name="ends"
          value={days}
          options={endings}
          onChange={setDays}
        />
        <DialogFormButtons action="Rotate the key" isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

/** The dialog in which staff confirm that they want to revoke an API key. */
interface RevokeKeyProps {
  readonly apiKey: ConsoleApiKey;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

export function RevokeApiKeyDialog({ apiKey, onRevoked, onClose }: RevokeKeyProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(revokeKeyDocument);
  const revoke = async (): Promise<void> => {
    if ((await run({ input: { apiKeyId: apiKey.id } })) === undefined) return;
    onRevoked();
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Revoke “${apiKey.name}”?`}
      action="Revoke the key"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void revoke()}
      onClose={onClose}
    >
      <p>
        Requests with{" "}
        <code>
          {apiKey.prefix}_…{apiKey.lastFour}
        </code>{" "}
        are refused from then on. This cannot be undone.
      </p>
      <p class="soft">
        Last used: <FormattedTime at={apiKey.lastUsedAt} otherwise="never" />
      </p>
    </ConfirmDialog>
  );
}

/** Shows a new API key with a curl command that uses the key. The key is shown only once. */
interface KeyShownProps {
  readonly title: string;
  readonly value: string;
  readonly onClose: () => void;
}

function NewKeyDialog({ title, value, onClose }: KeyShownProps): JSX.Element {
  const curl = `curl -H 'Authorization: Bearer ${value}' ${location.origin}${basePath}/api/v1/open/identity`;
  return (
    <Dialog title={title} onClose={onClose} isFirm>
      <p>
        <strong>Copy the key now: it cannot be shown again.</strong> Store it with your other secrets, not in
        the source code.
      </p>
      <CopyableSecretField label="The key" value={value} />
      <CopyableSecretField label="A command to try the key" value={curl} />
      <div class="actions">
        <button type="button" onClick={onClose}>
          I have stored it
        </button>
      </div>
    </Dialog>
  );
}

/** The choices for the lifetime of a new API key, for example 90 days. */
const endings = [
  { value: "", label: "Never" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const;
type Ending = (typeof endings)[number]["value"];

const dayMs = 24 * 3600 * 1000;

/**
 * Returns the expiry time of a new key: the end of a day in UTC. A form that is sent twice on one day then
 * has the same variables, and therefore the same idempotency key.
 */
function endOf(days: Ending): string | null {
  if (days === "") return null;
  const end = new Date(Date.now() + Number(days) * dayMs);
  end.setUTCHours(23, 59, 59, 0);
  return end.toISOString();
}
