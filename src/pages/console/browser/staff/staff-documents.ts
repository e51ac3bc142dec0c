/** GraphQL documents and result types of the staff page. */
import {
  type GraphqlConnection,
  createConsoleGraphqlDocument,
} from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";

/** A staff member’s role, as in the GraphQL enum `StaffRole`. */
export type ConsoleStaffRole = "ADMIN" | "ANALYST";

export interface StaffMember {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: ConsoleStaffRole;
  readonly createdAt: string;
  readonly disabledAt: string | null;
  readonly lastSignedInAt: string | null;
}

const fields = "id email name role createdAt disabledAt lastSignedInAt";

export interface StaffListQueryResult {
  readonly viewer: { readonly staff: { readonly id: string } | null };
  readonly staffAccounts: GraphqlConnection<StaffMember>;
}

export const staffDocument = createConsoleGraphqlDocument<
  StaffListQueryResult,
  { first: number; after: string | null }
>(`
  query ConsoleStaff($first: Int!, $after: String) {
    viewer { staff { id } }
    staffAccounts(first: $first, after: $after) {
      edges { node { ${fields} } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

interface StaffPasswordResult {
  readonly staff: StaffMember;
  /** The password that the service has generated; null if the request contained a password. */
  readonly password: string | null;
}

export const createStaffDocument = createConsoleGraphqlDocument<
  { staffCreate: StaffPasswordResult },
  GraphqlVariablesWithIdempotencyKey & { input: { email: string; name: string; role: ConsoleStaffRole } }
>(`
  mutation ConsoleStaffCreate($idempotencyKey: String!, $input: StaffCreateInput!) {
    staffCreate(idempotencyKey: $idempotencyKey, input: $input) { password staff { ${fields} } }
  }
`);

interface PasswordInput {
  readonly staffId: string;
  readonly password: string | null;
  readonly revokeGrants: boolean;
}

export const setPasswordDocument = createConsoleGraphqlDocument<
  { staffPasswordSet: StaffPasswordResult },
  GraphqlVariablesWithIdempotencyKey & { input: PasswordInput }
>(`
  mutation ConsoleStaffPasswordSet($idempotencyKey: String!, $input: StaffPasswordSetInput!) {
    staffPasswordSet(idempotencyKey: $idempotencyKey, input: $input) { password staff { ${fields} } }
  }
`);

export const setRoleDocument = createConsoleGraphqlDocument<
  { staffRoleSet: { id: string } },
  GraphqlVariablesWithIdempotencyKey & { input: { staffId: string; role: ConsoleStaffRole } }
>(`
  mutation ConsoleStaffRoleSet($idempotencyKey: String!, $input: StaffRoleSetInput!) {
    staffRoleSet(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

type StaffTransition = GraphqlVariablesWithIdempotencyKey & { input: { staffId: string } };

export const disableStaffDocument = createConsoleGraphqlDocument<
  { staffDisable: { id: string } },
  StaffTransition
>(`
  mutation ConsoleStaffDisable($idempotencyKey: String!, $input: StaffDisableInput!) {
    staffDisable(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

export const enableStaffDocument = createConsoleGraphqlDocument<
  { staffEnable: { id: string } },
  StaffTransition
>(`
  mutation ConsoleStaffEnable($idempotencyKey: String!, $input: StaffEnableInput!) {
    staffEnable(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);
