/**
 * Recognizes requests from the developer's own machine. Pages may show the demo's secrets only in the answers
 * to such requests.
 */

export const isLoopbackUrl = (url: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/**
 * Returns whether the service runs at a loopback address and the request names this address as its host. A
 * page of another site whose host name leads to the loopback address (DNS rebinding) sends its own host name,
 * so the result for its requests is false.
 */
export const isLoopbackRequest = (
  publicUrl: string,
  { host }: { readonly host?: string | undefined },
): boolean => isLoopbackUrl(publicUrl) && host === new URL(publicUrl).host;
