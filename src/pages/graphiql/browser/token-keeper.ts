/**
 * Stores the credential of this browser tab: an internal token, or the reader's session in the merchants'
 * console. Asks the reader for a token once. The token is stored in sessionStorage, which the browser deletes
 * with the tab. Sends the credential with every query, and asks for another token when the service refuses
 * the credential.
 */

/** The role and the merchant of the stored token or of the session in the merchants' console. */
export interface CredentialRoleAndMerchant {
  readonly role: string;
  readonly isConsoleSession: boolean;
  /** The name of the merchant whose data the token can access; null if it can access all merchants' data. */
  readonly merchant: string | null;
}

/** The message in the token dialog, which asks the reader for a token. */
export interface TokenDialogPrompt {
  readonly message: string;
  readonly isFault: boolean;
}

interface GraphqlRequest {
  readonly body: object;
  /** Additional headers of the request. A header `authorization` among them replaces the stored token. */
  readonly headers?: HeadersInit;
  /**
   * If true, the request stays in the queue when the reader closes the token dialog, and is sent once the
   * reader enters a token. For requests that the page sends by itself and that may be sent late.
   */
  readonly isPatient?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * A response, and the time at which its request was sent. A request that waits for the token dialog is sent
 * after this wait.
 */
export interface ResponseWithRequestStartTime {
  readonly response: Response;
  /** The time at which the request was sent, in milliseconds of the clock of `performance.now()`. */
  readonly sentAt: number;
}

/** Thrown if the reader closed the token dialog without entering a token, so that the request was not sent. */
export class NoTokenEnteredError extends Error {
  constructor() {
    super("The operation was not sent, because no token was entered. Run it again to enter a token.");
  }
}

interface Waiting {
  readonly isPatient: boolean;
  readonly resume: () => void;
  readonly cancel: () => void;
}

interface Fault extends TokenDialogPrompt {
  /**
   * True if the service refused the token. False if the request failed for another reason, for example after
   * too many requests.
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
/**
 * The value that is stored instead of a token if queries are sent with the session cookie of the console. No
 * real token has this value.
 */
const consoleSession = "console-session";
const whoAmI = "query WhoAmI { viewer { role merchant { name } } }";
const firstQuestion: TokenDialogPrompt = {
  message: "Every query needs an internal token. Its role decides what you can read and change.",
  isFault: false,
};
const unreachable: Fault = {
  message: "The service does not answer. Try again in a moment.",
  isFault: true,
  isRefusal: false,
};

export class GraphiqlTokenManager {
  holder: CredentialRoleAndMerchant | undefined;
  question: TokenDialogPrompt | undefined;
  readonly #endpoint: string;
  readonly #listeners = new Set<() => void>();
  #waiting: Waiting[] = [];

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  get hasToken(): boolean {
    return sessionStorage.getItem(key) !== null;
  }

  /**
   * Adds a listener that is called after each change of `holder`, `question` or `hasToken`. Returns a
   * function that removes the listener.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Loads the role and merchant of the stored token. Without a stored token, asks the reader for one. */
  async begin(): Promise<void> {
    const token = sessionStorage.getItem(key);
    if (token === null) return this.#ask(firstQuestion);
    const fault = await this.#check(token);
    if (fault === undefined) this.#notifyListeners();
    else if (fault.isRefusal && sessionStorage.getItem(key) === token) this.#forget(fault);
  }

  /** Opens the dialog in which the reader can enter another token. */
  change(): void {
    this.#ask(
      this.hasToken
        ? { message: "The token that you enter replaces the current token.", isFault: false }
        : firstQuestion,
    );
  }

  /**
   * Switches to the reader's session in the merchants' console, if the reader has one. All later queries are
   * sent with this session.
   */
  async useConsoleSession(): Promise<void> {
    await this.give(consoleSession);
  }

  /** Checks the token that the user of GraphiQL has typed, and stores it only if the service accepts it. */
  async give(token: string): Promise<void> {
    const fault = await this.#check(token);
    if (fault !== undefined) return this.#ask(fault);
    sessionStorage.setItem(key, token);
    this.#close();
    for (const { resume } of this.#waiting.splice(0)) resume();
  }

  /**
   * Closes the token dialog and cancels the operations that wait for a token. Otherwise, a mutation could be
   * sent later with a token that the reader has entered for another purpose.
   */
  dismiss(): void {
    this.#close();
    const all = this.#waiting;
    this.#waiting = all.filter(({ isPatient }) => isPatient);
    for (const { isPatient, cancel } of all) if (!isPatient) cancel();
  }

  /** Deletes the stored token and opens the dialog in which the reader can enter another token. */
  forget(): void {
    this.#forget(firstQuestion);
  }

  /**
   * Sends a GraphQL request with the stored token. If there is no token or the service refuses the token,
   * waits until the reader has entered a token. Throws `NoTokenEnteredError` if the reader closes the
   * dialog.
   */
  async send(request: GraphqlRequest): Promise<ResponseWithRequestStartTime> {
    if (new Headers(request.headers ?? {}).has("authorization")) {
      const sentAt = performance.now();
      return { response: await this.#post(undefined, request), sentAt };
    }
    for (;;) {
      const token = await this.#waitForToken(request.isPatient ?? false);
      const sentAt = performance.now();
      const response = await this.#post(token, request);
      if (response.status !== 401) return { response, sentAt };
      // Deletes the stored token only if it is the refused token. The reader may have entered another token
      // while several requests were waiting for their refusal.
      if (sessionStorage.getItem(key) === token) this.#forget(await faultIn(response));
    }
  }

  async #waitForToken(isPatient: boolean): Promise<string> {
    for (;;) {
      const token = sessionStorage.getItem(key);
      if (token !== null) return token;
      // A request with `isPatient` waits for a token, but does not open the token dialog again that the
      // reader has closed.
      if (this.question === undefined && !isPatient) this.#ask(firstQuestion);
      await new Promise<void>((resume, reject) =>
        this.#waiting.push({ isPatient, resume, cancel: () => reject(new NoTokenEnteredError()) }),
      );
    }
  }

  /**
   * Asks the service whether a token is valid. Stores the role and merchant of a valid token in `holder` and
   * returns undefined. Returns the error if the token is not valid.
   */
  async #check(token: string): Promise<Fault | undefined> {
    try {
      const response = await this.#post(token, { body: { query: whoAmI } });
      const viewer = response.ok ? ((await response.clone().json()) as WhoAmI).data?.viewer : undefined;
      if (viewer === undefined) return await faultIn(response);
      this.holder = {
        role: viewer.role,
        isConsoleSession: token === consoleSession,
        merchant: viewer.merchant?.name ?? null,
      };
      return undefined;
    } catch {
      return unreachable;
    }
  }

  #post(token: string | undefined, { body, headers: given = {}, signal }: GraphqlRequest): Promise<Response> {
    // The headers are collected in a `Headers` object, because it ignores upper and lower case in header
    // names. A plain object could contain both `Authorization` and `authorization`.
    const headers = new Headers(given);
    if (!headers.has("accept")) headers.set("accept", "application/json");
    headers.set("content-type", "application/json");
    // The header is needed with the cookie of the console's session. The service accepts the cookie only with
    // this header, which pages of other sites cannot send.
    if (token === consoleSession) headers.set("x-commerce-console", "1");
    else if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    return fetch(this.#endpoint, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: signal ?? null,
    });
  }

  #forget(question: TokenDialogPrompt): void {
    sessionStorage.removeItem(key);
    this.holder = undefined;
    this.#ask(question);
  }

  #ask(question: TokenDialogPrompt): void {
    this.question = question;
    this.#notifyListeners();
  }

  #close(): void {
    this.question = undefined;
    this.#notifyListeners();
  }

  #notifyListeners(): void {
    for (const listener of this.#listeners) listener();
  }
}

async function faultIn(response: Response): Promise<Fault> {
  const isRefusal = response.status === 401;
  // The body of the response may not be JSON, because a proxy in front of the service may answer with HTML.
  const { errors } = (await response.json().catch(() => ({}))) as WhoAmI;
  const message =
    errors?.[0]?.message ?? (isRefusal ? "The service did not accept the token." : unreachable.message);
  return { message, isFault: true, isRefusal };
}
