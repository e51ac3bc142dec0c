/** Chromium with a record of its windows' requests and error messages. */
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type ConsoleMessage,
  type Response,
} from "playwright-core";

const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export interface WatchedBrowser {
  /** Opens a separate browser profile, which shares no cookies. */
  open(options?: BrowserContextOptions): Promise<BrowserContext>;
  /**
   * Closes all profiles. A request that a page still has under way, and that a test replaces, fails
   * unnoticed.
   */
  closeAll(): Promise<void>;
  close(): Promise<void>;
  /** Requests to other origins. */
  readonly outside: readonly string[];
  /** Console errors and warnings, except on pages answered with 400. */
  readonly complaints: readonly string[];
  /** The content security policies of pages, without their hashes; contains undefined if a page had none. */
  readonly policies: ReadonlySet<string | undefined>;
}

export const launchChromium = (): Promise<Browser> => chromium.launch({ executablePath, args: flags });

export async function launchBrowser(): Promise<WatchedBrowser> {
  const browser = await launchChromium();
  const outside: string[] = [];
  const complaints: string[] = [];
  const policies = new Set<string | undefined>();
  const noteMessage = (message: ConsoleMessage): void => {
    const isRefusal =
      message.text() === "Failed to load resource: the server responded with a status of 400 (Bad Request)";
    if (["error", "warning"].includes(message.type()) && !isRefusal) complaints.push(message.text());
  };
  const notePolicy = (response: Response): void => {
    const { "content-type": type = "", "content-security-policy": policy } = response.headers();
    const isPage = type.startsWith("text/html") && (response.status() < 300 || response.status() >= 400);
    if (isPage && new URL(response.url()).pathname.startsWith("/oauth/"))
      policies.add(policy?.replace(/'sha256-[\w+/=]+'/, "'sha256-…'"));
  };
  return {
    outside,
    complaints,
    policies,
    open: async (options = {}) => {
      const context = await browser.newContext({
        viewport: { width: 1000, height: 800 },
        // Without a language, Chromium's headless shell sends no Accept-Language.
        locale: "en-US",
        ...options,
      });
      context.on("request", (request) => {
        const { protocol, hostname } = new URL(request.url());
        if (protocol !== "data:" && !["127.0.0.1", "localhost"].includes(hostname))
          outside.push(request.url());
      });
      context.on("console", noteMessage);
      context.on("weberror", (error) => complaints.push(error.error().message));
      context.on("response", notePolicy);
      return context;
    },
    closeAll: async () => {
      await Promise.all(
        browser.contexts().map(async (context) => {
          for (const routed of [context, ...context.pages()])
            await routed.unrouteAll({ behavior: "ignoreErrors" });
          await context.close();
        }),
      );
    },
    close: () => browser.close(),
  };
}
