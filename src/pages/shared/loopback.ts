/** Tells requests that only the developer's own machine can send, to which pages may show the demo's secrets. */

export const isLoopbackUrl = (url: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/**
 * Whether the service is at a loopback address and the request names this address. A page of another site,
 * whose name leads to the loopback address (DNS rebinding), sends its own name.
 */
export const isLoopbackRequest = (
  publicUrl: string,
  { host }: { readonly host?: string | undefined },
): boolean => isLoopbackUrl(publicUrl) && host === new URL(publicUrl).host;
