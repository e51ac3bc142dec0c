/** Who signs in at the demo, and the app that asks to be let in. */
import { createOauthClient } from "#access/oauth/oauth-clients.ts";
import { generatePassword } from "#access/people/passwords.ts";
import { createStaff, prepareStaff } from "#access/people/staff.ts";
import type { Transaction } from "#database/transaction.ts";
import type { DemoFile } from "./demo-file.ts";

/** Where nothing listens until somebody tries it. */
const redirectUri = "http://127.0.0.1:4010/callback";

interface PeoplePlace {
  readonly owner: { readonly id: string; readonly slug: string; readonly installationId: string };
  readonly now: Date;
}

/** Done again it makes others: a password cannot be read back. */
export async function seedPeople(transaction: Transaction, { owner, now }: PeoplePlace): Promise<Pick<DemoFile, "staff" | "oauthClient">> {
  const access = { merchantId: null, now };
  const before = await transaction.selectFrom("staffAccount").select("id").where("merchantId", "=", owner.id).execute();
  const email = `demo${before.length === 0 ? "" : `.${before.length + 1}`}@${owner.slug}.example`;
  const password = generatePassword();
  await createStaff(transaction, access, { merchantId: owner.id, ...(await prepareStaff({ email, name: "Demo", password })) });
  const { appId } = await transaction.selectFrom("installation").select("appId").where("id", "=", owner.installationId).executeTakeFirstOrThrow();
  const clientId = await createOauthClient(transaction, access, { appId, redirectUris: [redirectUri], authMethod: "none", jwks: null });
  return { staff: { email, password }, oauthClient: { clientId, redirectUri } };
}
