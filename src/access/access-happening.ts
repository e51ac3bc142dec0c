/** What became of an installation or of one of its keys. Rules answer with it; whoever called them tells. */
export interface AccessHappening {
  readonly type:
    | "installation.scopes_changed"
    | "installation.suspended"
    | "installation.resumed"
    | "installation.uninstalled"
    | "api_key.created"
    | "api_key.rotated"
    | "api_key.revoked"
    | "api_key.expiring";
  /** Of the installation or the key. */
  readonly id: string;
  readonly merchantId: string;
  /** Nobody else is told. */
  readonly installationId: string;
  /** What the fields that changed were; null where nothing was. */
  readonly previous: Readonly<Record<string, unknown>> | null;
}
