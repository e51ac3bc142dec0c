/**
 * Registration of AI agents as OAuth clients, without an operator: dynamic client registration (RFC 7591),
 * and client ids that are the URL of a metadata document. Agents are public clients. Their access tokens are
 * valid only at the MCP server and need no DPoP proof, because most agents cannot send one.
 */
import type { IncomingMessage } from "node:http";
import type { Client, Configuration, KoaContextWithOIDC } from "oidc-provider";
import {
  findOauthAgentClientRow,
  findBrokenAgentRedirectUriRule,
  getVerifiedHostOfMetadataUrl,
  isClientIdMetadataUrl,
} from "#access/oauth/agent-clients.ts";
import { integratorScopes } from "#access/viewer.ts";
import { createId } from "#foundation/ids.ts";
import type { OidcProviderModule } from "./interaction-request.ts";
import type { OauthServices } from "./oauth-services.ts";

/** Milliseconds for which a registration is kept if no staff member grants the client access. */
export const registrationLifetimeMs = 86_400_000;

/**
 * Name of the additional client metadata field that says how a client became known: `operator`, `dynamic` or
 * `metadata_document`. Clients cannot choose its value.
 */
export const registrationMetadata = "registration";

export const isAgentOauthClient = (client: Pick<Client, "metadata">): boolean =>
  client.metadata()[registrationMetadata] !== "operator";

type ClientRules = NonNullable<Configuration["extraClientMetadata"]>;

type ValidatorParameters = Parameters<NonNullable<ClientRules["validator"]>>;

/**
 * The client metadata of an agent that the service stores. All other metadata is dropped, so that
 * registrations stay small.
 */
const keptMetadata: ReadonlySet<string> = new Set([
  "client_id",
  "client_id_issued_at",
  "client_name",
  "redirect_uris",
  "dpop_bound_access_tokens",
]);

/**
 * Checks the OAuth client metadata that an AI agent sends, and adds the metadata that is the same for all
 * agents.
 */
export function createOauthAgentMetadataRules({ errors }: OidcProviderModule): ClientRules {
  return {
    properties: [registrationMetadata],
    validator: (...[context, , registration, metadata]: ValidatorParameters) => {
      const id = metadata.client_id;
      // oidc-provider passes a context only for a request to the registration endpoint, which means dynamic
      // registration.
      const how = isClientIdMetadataUrl(id)
        ? "metadata_document"
        : context === undefined
          ? registration
          : "dynamic";
      if (how === "operator") return;
      const fault = findBrokenAgentRedirectUriRule(metadata.redirect_uris);
      if (fault !== undefined) throw new errors.InvalidClientMetadata(`redirect_uris: ${fault}`);
      for (const name of Object.keys(metadata))
        if (!keptMetadata.has(name)) Reflect.deleteProperty(metadata, name);
      const isLocal = metadata.redirect_uris?.some((uri) => uri.startsWith("http:")) === true;
      Object.assign(metadata, {
        [registrationMetadata]: how,
        client_name:
          cleanName(metadata.client_name) ?? getVerifiedHostOfMetadataUrl(id) ?? "An agent without a name",
        application_type: isLocal ? "native" : "web",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        response_modes: ["query"],
        scope: integratorScopes.join(" "),
        token_endpoint_auth_method: "none",
      });
    },
  };
}

const nameLengthMax = 100;

/** Returns the client's name without control and formatting characters; undefined if no character is left. */
function cleanName(name: unknown): string | undefined {
  if (typeof name !== "string") return undefined;
  const cleaned = name.replaceAll(/\p{C}/gu, "").trim().slice(0, nameLengthMax);
  return cleaned === "" ? undefined : cleaned;
}

export interface OauthAgentRegistrationOptions {
  readonly services: Pick<OauthServices, "db" | "clock">;
  /**
   * Counts a fetch of a client metadata document. Returns false if the caller's IP address has caused too
   * many fetches.
   */
  readonly mayFetchMetadata: (request: IncomingMessage) => Promise<boolean>;
}

type AgentFeatures = Pick<
  NonNullable<Configuration["features"]>,
  "registration" | "clientIdMetadataDocument"
>;

const metadataUrlLengthMax = 500;

export function configureOauthAgentRegistration({
  services: { db, clock },
  mayFetchMetadata,
}: OauthAgentRegistrationOptions): AgentFeatures {
  return {
    registration: {
      enabled: true,
      initialAccessToken: false,
      issueRegistrationAccessToken: false,
      idFactory: () => createId("oauthClient", clock.now().getTime()),
    },
    clientIdMetadataDocument: {
      enabled: true,
      ack: "draft-02",
      cacheDuration: { min: 60, max: 3600 },
      // `context` is undefined if oidc-provider looks up the client for a page of this service. It is defined
      // for requests to OAuth endpoints.
      allowFetch: async (context: KoaContextWithOIDC | undefined, url) =>
        url.length <= metadataUrlLengthMax &&
        (context === undefined || (await mayFetchMetadata(context.req))),
      allowClient: async (_context, { clientId }) =>
        (await findOauthAgentClientRow(db, clientId))?.disabledAt == null,
    },
  };
}
