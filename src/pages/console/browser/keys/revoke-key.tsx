/** Asks before a key is revoked. */
import type { JSX } from "preact";
import { useChange } from "#pages/console/browser/graph/hooks.ts";
import { Confirm } from "#pages/console/browser/parts/dialogs.tsx";
import { Time } from "#pages/console/browser/parts/formats.tsx";
import { type ApiKey, revokeKeyDocument } from "./key-documents.ts";

interface RevokeKeyProps {
  readonly apiKey: ApiKey;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

export function RevokeKey({ apiKey, onRevoked, onClose }: RevokeKeyProps): JSX.Element {
  const { isBusy, failure, run } = useChange(revokeKeyDocument);
  const revoke = async (): Promise<void> => {
    if ((await run({ input: { apiKeyId: apiKey.id } })) === undefined) return;
    onRevoked();
    onClose();
  };
  return (
    <Confirm
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
        Last used: <Time at={apiKey.lastUsedAt} otherwise="never" />
      </p>
    </Confirm>
  );
}
