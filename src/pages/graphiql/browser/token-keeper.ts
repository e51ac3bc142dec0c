/**
 * The internal token of this tab: asked for once, kept in sessionStorage (gone with the tab), sent with every
 * query, asked for again when it is refused.
 */

/** Who the token stands for. */
export interface TokenHolder {
  readonly role: string;
  /** Null: the whole platform. */
  readonly merchant: string | null;
}

/** What the dialog says while it is open. */
export interface TokenPrompt {
  readonly message: string;
  readonly isFault: boolean;
}

interface GraphqlRequest {
  readonly body: object;
  /**
   * An `authorization` among them is somebody's own: it is sent as it is, and the kept token has no part in
   * it.
   */
  readonly headers?: HeadersInit;
  /**
   * Goes on waiting for a token when the dialog is left: for what nobody ran, and what does no harm when it
   * is sent late.
   */
  readonly isPatient?: boolean;
  readonly signal?: AbortSignal;
}

/** Without the time in which somebody typed a token. */
export interface SentRequest {
  readonly response: Response;
  /** As performance.now() counts. */
  readonly sentAt: number;
}

/** The dialog was left without a token, and what waited for one was not sent. */
export class NoTokenGivenError extends Error {
  constructor() {
    super("Nothing was sent: no token was given. Run it again to be asked for one.");
  }
}

interface Waiting {
  readonly isPatient: boolean;
  readonly free: () => void;
  readonly giveUp: () => void;
}

interface Fault extends TokenPrompt {
  /**
   * Refused as a token: what else goes wrong (too many requests, a fault of the service) says nothing about
   * it.
   */
  readonly isRefusal: boolean;
}

interface WhoAmI {
  readonly data?: {
    readonly viewer?: { readonly role: string; readonly merchant: { readonly name: string } | null };
  } | null;
  readonly errors?: readonly { readonly message: string }[];
}

const key = "commerce-gateway-token";
const whoAmI = "query WhoAmI { viewer { role merchant { name } } }";
const firstQuestion: TokenPrompt = {
  message: "The graph answers to internal tokens. The demo’s are in demo.json, under tokens.",
  isFault: false,
};
const unreachable: Fault = {
  message: "The service does not answer. Try again in a moment.",
  isFault: true,
  isRefusal: false,
};

export class TokenKeeper {
  holder: TokenHolder | undefined;
  question: TokenPrompt | undefined;
  readonly #endpoint: string;
  readonly #listeners = new Set<() => void>();
  #waiting: Waiting[] = [];

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  get hasToken(): boolean {
    return sessionStorage.getItem(key) !== null;
  }

  /** Called after each change of `holder`, `question` and `hasToken`, until what it returns is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Finds out whose token the tab remembers, or asks for one. */
  async begin(): Promise<void> {
    const token = sessionStorage.getItem(key);
    if (token === null) return this.#ask(firstQuestion);
    const fault = await this.#check(token);
    if (fault === undefined) this.#tell();
    else if (fault.isRefusal && sessionStorage.getItem(key) === token) this.#forget(fault);
  }

  /** Opens the dialog, where another token can be given. */
  change(): void {
    this.#ask(
      this.hasToken
        ? { message: "Another token takes the place of the one in use.", isFault: false }
        : firstQuestion,
    );
  }

  /** Keeps what was typed, if the graph takes it. */
  async give(token: string): Promise<void> {
    const fault = await this.#check(token);
    if (fault !== undefined) return this.#ask(fault);
    sessionStorage.setItem(key, token);
    this.#close();
    for (const { free } of this.#waiting.splice(0)) free();
  }

  /**
   * Closes the dialog as it is. Who leaves it gives up what was run: a mutation must not be sent later, with
   * a token given for something else.
   */
  dismiss(): void {
    this.#close();
    const all = this.#waiting;
    this.#waiting = all.filter(({ isPatient }) => isPatient);
    for (const { isPatient, giveUp } of all) if (!isPatient) giveUp();
  }

  /** And asks for another. */
  forget(): void {
    this.#forget(firstQuestion);
  }

  /**
   * Sends a GraphQL request with the token, and waits for one where there is none or it is refused. Throws
   * NoTokenGiven when none is given.
   */
  async send(request: GraphqlRequest): Promise<SentRequest> {
    if (new Headers(request.headers ?? {}).has("authorization")) {
      const sentAt = performance.now();
      return { response: await this.#post(undefined, request), sentAt };
    }
    for (;;) {
      const token = await this.#tokenInHand(request.isPatient ?? false);
      const sentAt = performance.now();
      const response = await this.#post(token, request);
      if (response.status !== 401) return { response, sentAt };
      // Several are refused at once: what was given since stays.
      if (sessionStorage.getItem(key) === token) this.#forget(await faultIn(response));
    }
  }

  async #tokenInHand(isPatient: boolean): Promise<string> {
    for (;;) {
      const token = sessionStorage.getItem(key);
      if (token !== null) return token;
      // What waits in patience does not open a dialog that was left.
      if (this.question === undefined && !isPatient) this.#ask(firstQuestion);
      await new Promise<void>((free, reject) =>
        this.#waiting.push({ isPatient, free, giveUp: () => reject(new NoTokenGivenError()) }),
      );
    }
  }

  /** What is wrong with it, if anything is; else `holder` is whose it is. */
  async #check(token: string): Promise<Fault | undefined> {
    try {
      const response = await this.#post(token, { body: { query: whoAmI } });
      const viewer = response.ok ? ((await response.clone().json()) as WhoAmI).data?.viewer : undefined;
      if (viewer === undefined) return await faultIn(response);
      this.holder = { role: viewer.role, merchant: viewer.merchant?.name ?? null };
      return undefined;
    } catch {
      return unreachable;
    }
  }

  #post(token: string | undefined, { body, headers: given = {}, signal }: GraphqlRequest): Promise<Response> {
    // Headers know names in any case: a plain object would send an `Authorization` and an `authorization`
    // joined.
    const headers = new Headers(given);
    if (!headers.has("accept")) headers.set("accept", "application/json");
    headers.set("content-type", "application/json");
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    return fetch(this.#endpoint, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: signal ?? null,
    });
  }

  #forget(question: TokenPrompt): void {
    sessionStorage.removeItem(key);
    this.holder = undefined;
    this.#ask(question);
  }

  #ask(question: TokenPrompt): void {
    this.question = question;
    this.#tell();
  }

  #close(): void {
    this.question = undefined;
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

async function faultIn(response: Response): Promise<Fault> {
  const isRefusal = response.status === 401;
  // A proxy before the service may answer with a page.
  const { errors } = (await response.json().catch(() => ({}))) as WhoAmI;
  const message = errors?.[0]?.message ?? (isRefusal ? "The token is not taken." : unreachable.message);
  return { message, isFault: true, isRefusal };
}
