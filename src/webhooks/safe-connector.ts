/**
 * Opens the sockets for webhook requests. Each host name is resolved once. The request is refused if one of
 * the addresses is not allowed; otherwise the socket connects only to the checked addresses. Therefore
 * neither DNS rebinding nor unusual spellings of IP addresses can reach an internal address.
 */
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import type { buildConnector } from "undici";
import {
  isIpAddressAllowedForEndpointHost,
  isLoopbackHost,
  isSameIpAddress,
  resolveHostNameWithTimeout,
  type HostNameResolver,
} from "./safe-addresses.ts";

export interface SsrfSafeConnectorOptions {
  readonly isLoopbackAllowed: boolean;
  readonly resolve: HostNameResolver;
  /** Maximum time in milliseconds for DNS lookup, connection and TLS handshake together. */
  readonly connectTimeoutMs: number;
  /**
   * The certificate of an authority (PEM) that is trusted in addition to the certificate authorities that
   * Node trusts by default.
   */
  readonly certificateAuthority?: string | undefined;
  readonly onOpen: (socket: Socket) => void;
}

/** The target of a connection, as the HTTP client undici passes it to the function that opens the socket. */
type Target = buildConnector.Options;

export function createSsrfSafeConnector(options: SsrfSafeConnectorOptions): buildConnector.connector {
  return (target, callback) => void connect(target, options, callback);
}

async function connect(
  target: Target,
  options: SsrfSafeConnectorOptions,
  callback: buildConnector.Callback,
): Promise<void> {
  let socket: Socket;
  try {
    socket = await openSafely(target, options);
  } catch (error) {
    callback(error instanceof Error ? error : new WebhookDeliveryError("connection", error), null);
    return;
  }
  callback(null, socket);
}

async function openSafely(target: Target, options: SsrfSafeConnectorOptions): Promise<Socket> {
  requireSafeScheme(target, options);
  const deadline = AbortSignal.timeout(options.connectTimeoutMs);
  const addresses = await allowedAddresses(target.hostname, { ...options, deadline });
  const socket = await open(target, {
    addresses,
    deadline,
    certificateAuthority: options.certificateAuthority,
  });
  options.onOpen(socket);
  return socket;
}

/** Refuses connections without TLS, except allowed connections to this machine itself. */
function requireSafeScheme(
  { protocol, hostname }: Target,
  { isLoopbackAllowed }: SsrfSafeConnectorOptions,
): void {
  if (protocol === "https:") return;
  if (protocol !== "http:" || !isLoopbackAllowed || !isLoopbackHost(hostname))
    throw new WebhookDeliveryError("blocked_address");
}

async function allowedAddresses(
  host: string,
  { isLoopbackAllowed, resolve, deadline }: SsrfSafeConnectorOptions & { readonly deadline: AbortSignal },
): Promise<readonly string[]> {
  const addresses =
    isIP(host) === 0 ? await resolveHostNameWithTimeout(host, { resolve, signal: deadline }) : [host];
  if (addresses.length === 0) throw new WebhookDeliveryError("dns");
  if (!addresses.every((address) => isIpAddressAllowedForEndpointHost(address, { host, isLoopbackAllowed })))
    throw new WebhookDeliveryError("blocked_address");
  return addresses;
}

interface Opening {
  readonly addresses: readonly string[];
  readonly deadline: AbortSignal;
  readonly certificateAuthority: string | undefined;
}

function open(target: Target, { addresses, deadline, certificateAuthority }: Opening): Promise<Socket> {
  const isSecure = target.protocol === "https:";
  const socket = isSecure
    ? startSecure(target, addresses, certificateAuthority)
    : connectPlain(startOf(target, addresses));
  return new Promise((resolve, reject) => {
    let phase: "connection" | "tls" = "connection";
    let isOpen = false;
    const stop = (): void => void socket.destroy(new WebhookDeliveryError("timeout"));
    const settle = (): void => deadline.removeEventListener("abort", stop);
    deadline.addEventListener("abort", stop, { once: true });
    if (deadline.aborted) stop();
    socket.setNoDelay(true);
    socket.once("connect", () => {
      phase = "tls";
      // Only the address of a connected socket is checked. A socket without a remote address is already
      // closed and emits an error.
      const reached = socket.remoteAddress;
      if (reached !== undefined && !addresses.some((address) => isSameIpAddress(address, reached)))
        socket.destroy(new WebhookDeliveryError("blocked_address"));
    });
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      settle();
      if (socket.destroyed) return;
      isOpen = true;
      resolve(socket);
    });
    // The listener of the socket's `error` event stays attached forever, because an `error` event without a
    // listener would end the process.
    socket.on("error", (error) => {
      settle();
      if (!isOpen) reject(toFault(error, phase));
    });
    socket.once("close", () => {
      settle();
      if (!isOpen) reject(new WebhookDeliveryError(phase));
    });
  });
}

function startSecure(
  target: Target,
  addresses: readonly string[],
  certificateAuthority: string | undefined,
): Socket {
  return connectSecure({
    ...startOf(target, addresses),
    ...(isIP(target.hostname) === 0 ? { servername: target.hostname } : {}),
    ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    ALPNProtocols: ["http/1.1", "h2"],
    minVersion: "TLSv1.2",
    // Certificates are always verified, even if the environment variable NODE_TLS_REJECT_UNAUTHORIZED
    // disables this for the process.
    rejectUnauthorized: true,
  });
}

interface Start {
  readonly host: string;
  readonly port: number;
  readonly lookup: LookupFunction;
  readonly autoSelectFamily: true;
  readonly autoSelectFamilyAttemptTimeout: number;
}

/**
 * Returns the options with which Node opens the connection. The function `lookup` returns the addresses that
 * were checked, so that Node makes no DNS lookup of its own. Node tries the addresses one after another.
 */
function startOf({ hostname, port, protocol }: Target, addresses: readonly string[]): Start {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  return {
    host: hostname,
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    lookup: (_name, { all }, callback) => {
      if (all === true) callback(null, known);
      else callback(null, known[0]?.address ?? "", known[0]?.family);
    },
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1000,
  };
}

function toFault(error: Error, phase: "connection" | "tls"): WebhookDeliveryError {
  if (error instanceof WebhookDeliveryError) return error;
  return new WebhookDeliveryError("code" in error && error.code === "ETIMEDOUT" ? "timeout" : phase, error);
}

/**
 * The reason why a delivery attempt failed. The service stores the reason with the attempt and shows it to
 * the merchant; the underlying error is not shown.
 */
export type DeliveryAttemptErrorCode =
  | "timeout"
  | "dns"
  | "tls"
  | "connection"
  | "http_status"
  | "blocked_address"
  | "redirect";

export class WebhookDeliveryError extends Error {
  readonly errorCode: DeliveryAttemptErrorCode;

  constructor(errorCode: DeliveryAttemptErrorCode, cause?: unknown) {
    super(`The webhook could not be delivered: ${errorCode}.`, { cause });
    this.name = "WebhookDeliveryError";
    this.errorCode = errorCode;
  }
}
