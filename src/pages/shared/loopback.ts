/**
 * Recognizes requests from the developer's own machine. Pages may show the demo's secrets only in the answers
 * to such requests.
 */

export const isLoopbackUrl = (url: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/**
 * Returns whether the service runs at a loopback address and the request's Host header contains this address.
 * The result is false for a page of another site that uses DNS rebinding, because the header then contains
 * that page's host name.
 */
export const isLoopbackRequest = (
  publicUrl: string,
  { host }: { readonly host?: string | undefined },
): boolean => isLoopbackUrl(publicUrl) && host === new URL(publicUrl).host;
