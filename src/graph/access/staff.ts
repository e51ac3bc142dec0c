/** The people of merchants, and what they granted to apps. */
import { z } from "zod";
import { selectGrants, revokeGrant } from "#access/oauth/grants.ts";
import { generatePassword } from "#access/people/passwords.ts";
import {
  createStaff,
  disableStaff,
  enableStaff,
  preparePasswordHash,
  prepareStaffInput,
  setStaffPassword,
  selectStaffAccounts,
  type StaffRow,
} from "#access/people/staff.ts";
import { isStaffViewer } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { type GraphContext, ownerOf, staff } from "#graph/context.ts";
import { accessChange } from "#graph/change-kinds.ts";
import { changeMutation, loadAnew } from "#graph/mutation.ts";
import { connectionOf, pageCost, listTypes } from "#graph/connections.ts";
import { OAuthGrantRef, StaffAccountRef, ViewerRef } from "#graph/refs.ts";

StaffAccountRef.implement({
  description: "A person of a merchant who may sign in and let apps in.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The account's id, `stf_…`." }),
    merchantId: t.exposeID("merchantId", { description: "The merchant it is of." }),
    email: t.exposeString("email", { description: "What the person signs in with." }),
    name: t.exposeString("name", { description: "What the person is called." }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    disabledAt: t.expose("disabledAt", {
      type: "DateTime",
      nullable: true,
      description: "Since when it signs in nowhere; null: it may.",
    }),
    lastSignedInAt: t.expose("lastSignedInAt", {
      type: "DateTime",
      nullable: true,
      description: "When the person last signed in.",
    }),
  }),
});

const StaffCreateInput = builder.inputType("StaffCreateInput", {
  description: "A new account.",
  fields: (t) => ({
    merchantId: t.id({ description: "The merchant it is of; needed with a token of the platform." }),
    email: t.string({
      required: true,
      description: "What the person signs in with: unique among all merchants.",
      validate: z.string().min(3).max(254),
    }),
    name: t.string({
      required: true,
      description: "What the person is called.",
      validate: z.string().trim().min(1).max(200),
    }),
    password: t.string({ description: "12 to 256 characters. Left out, one is made, and shown this once." }),
  }),
});

const StaffDisableInput = builder.inputType("StaffDisableInput", {
  description: "An account to disable.",
  fields: (t) => ({ staffId: t.id({ required: true, description: "The account." }) }),
});

const StaffEnableInput = builder.inputType("StaffEnableInput", {
  description: "A disabled account that shall sign in again.",
  fields: (t) => ({ staffId: t.id({ required: true, description: "The account." }) }),
});

const StaffPasswordSetInput = builder.inputType("StaffPasswordSetInput", {
  description: "A new password for an account.",
  fields: (t) => ({
    staffId: t.id({ required: true, description: "The account." }),
    password: t.string({ description: "12 to 256 characters. Left out, one is made, and shown this once." }),
    revokeGrants: t.boolean({
      description: "Whether what the person granted to apps ends as well. Left out, it stays in force.",
    }),
  }),
});

const OAuthGrantRevokeInput = builder.inputType("OAuthGrantRevokeInput", {
  description: "A grant to revoke.",
  fields: (t) => ({ grantId: t.id({ required: true, description: "The grant." }) }),
});

interface WithPassword {
  readonly staff: StaffRow;
  readonly password: string | null;
}

const passwordDescription = "The password that was made, shown this once; null: it was given.";

const StaffCreated = builder.objectRef<WithPassword>("StaffCreated").implement({
  description: "A new account.",
  fields: (t) => ({
    staff: t.expose("staff", { type: StaffAccountRef, description: "What is known of it." }),
    password: t.exposeString("password", { nullable: true, description: passwordDescription }),
  }),
});

const StaffPasswordSet = builder.objectRef<WithPassword>("StaffPasswordSet").implement({
  description: "An account with another password.",
  fields: (t) => ({
    staff: t.expose("staff", { type: StaffAccountRef, description: "The account." }),
    password: t.exposeString("password", { nullable: true, description: passwordDescription }),
  }),
});

async function staffOf({ db }: GraphContext, id: string): Promise<StaffRow> {
  const account = await selectStaffAccounts(db, null).where("id", "=", id).executeTakeFirst();
  if (account === undefined) throw fail("resource_not_found");
  return account;
}

interface Changed {
  readonly staffId: string;
  readonly generated: string | null;
}

const showWithPassword = async (
  context: GraphContext,
  { staffId, generated }: Changed,
): Promise<WithPassword> => ({
  staff: await staffOf(context, staffId),
  password: generated,
});

changeMutation({
  ...accessChange,
  name: "staffCreate",
  description: "Makes an account for a person of a merchant, who may then sign in and let apps in.",
  callers: staff,
  input: StaffCreateInput,
  type: StaffCreated,
  prepare: async ({ email, name, password }) => {
    const generated = typeof password === "string" ? null : generatePassword();
    return {
      generated,
      person: await prepareStaffInput({ email, name, password: password ?? generated ?? "" }),
    };
  },
  run: async (transaction, access, { merchantId, prepared: { generated, person } }) => {
    const owner = merchantId ?? access.merchantId;
    if (owner === null)
      throw fail("missing_field", { message: "merchantId is required with a token of the platform." });
    return { staffId: await createStaff(transaction, access, { merchantId: owner, ...person }), generated };
  },
  answer: showWithPassword,
});

changeMutation({
  ...accessChange,
  name: "staffPasswordSet",
  description:
    "Gives an account another password: whoever had signed in is asked again. What the person granted to apps stays in force, unless it shall be revoked.",
  callers: staff,
  input: StaffPasswordSetInput,
  type: StaffPasswordSet,
  prepare: async ({ password }) => {
    const generated = typeof password === "string" ? null : generatePassword();
    return { generated, passwordHash: await preparePasswordHash(password ?? generated ?? "") };
  },
  run: async (transaction, access, { staffId, revokeGrants, prepared: { generated, passwordHash } }) => {
    await setStaffPassword(transaction, access, {
      staffId,
      isRevokingGrants: revokeGrants === true,
      passwordHash,
    });
    return { staffId, generated };
  },
  answer: showWithPassword,
});

changeMutation({
  ...accessChange,
  name: "staffDisable",
  description:
    "Disables an account: it signs in nowhere from now on, also where it had, and the grants it gave are revoked.",
  callers: staff,
  input: StaffDisableInput,
  type: StaffAccountRef,
  run: async (transaction, access, { staffId }) => {
    await disableStaff(transaction, access, staffId);
    return staffId;
  },
  answer: staffOf,
});

changeMutation({
  ...accessChange,
  name: "staffEnable",
  description:
    "Lets a disabled account sign in again, with the password that it had. The grants that were revoked stay so.",
  callers: staff,
  input: StaffEnableInput,
  type: StaffAccountRef,
  run: async (transaction, access, { staffId }) => {
    await enableStaff(transaction, access, staffId);
    return staffId;
  },
  answer: staffOf,
});

changeMutation({
  ...accessChange,
  name: "oauthGrantRevoke",
  description: "Revokes what was granted to an OAuth client: its tokens are refused from now on.",
  callers: staff,
  input: OAuthGrantRevokeInput,
  type: OAuthGrantRef,
  run: async (transaction, access, { grantId }) => {
    access.publish(await revokeGrant(transaction, access, grantId));
    return grantId;
  },
  answer: ({ loaders }, id) => loadAnew(loaders.oauthGrants, id),
});

builder.objectField(ViewerRef, "staff", (t) =>
  t.field({
    type: StaffAccountRef,
    nullable: true,
    description: "The person who is signed in at the console; null when the call came with something else.",
    resolve: async (viewer, _args, { db }) => {
      if (!isStaffViewer(viewer)) return null;
      return (
        (await selectStaffAccounts(db, viewer.merchantId)
          .where("id", "=", viewer.staffId)
          .executeTakeFirst()) ?? null
      );
    },
  }),
);

builder.queryFields((t) => ({
  staffAccounts: t.connection(
    {
      type: StaffAccountRef,
      description:
        "The people of the merchants that the token sees, oldest first, disabled accounts included.",
      complexity: pageCost,
      authScopes: { callers: staff },
      resolve: (_root, args, context) =>
        connectionOf(args, {
          db: context.db,
          query: selectStaffAccounts(context.db, ownerOf(context)),
          column: "staff_account.id",
        }),
    },
    ...listTypes("StaffAccount", "accounts"),
  ),
  oauthGrants: t.connection(
    {
      type: OAuthGrantRef,
      description:
        "What the merchants that the token sees granted to OAuth clients, oldest first, revoked grants included.",
      complexity: pageCost,
      authScopes: { callers: staff },
      args: {
        installationId: t.arg.id({
          description: "Only those of this installation, `ins_…`; one that there is not has none.",
        }),
      },
      resolve: (_root, { installationId, ...args }, context) => {
        const all = selectGrants(context.db, ownerOf(context));
        const query =
          typeof installationId === "string" ? all.where("installationId", "=", installationId) : all;
        return connectionOf(args, { db: context.db, query, column: "oauth_grant.id" });
      },
    },
    ...listTypes("OAuthGrant", "grants"),
  ),
}));
