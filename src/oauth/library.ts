/** oidc-provider, loaded when the authorization server starts: no command needs it. */
import type * as Library from "oidc-provider";

export type OidcLibrary = typeof Library;

let loading: Promise<OidcLibrary> | undefined;

export function loadLibrary(): Promise<OidcLibrary> {
  loading ??= loadQuietly();
  return loading;
}

/** It calls every runtime without an LTS name unsupported, which the pinned Node is because it comes as a package: that line would stand in every log. */
async function loadQuietly(): Promise<OidcLibrary> {
  const output = globalThis.console;
  const { warn } = output;
  output.warn = () => undefined;
  try {
    return await import("oidc-provider");
  } finally {
    output.warn = warn;
  }
}
