/**
 * Serves the storefront at http://localhost:5173. COMMERCE_URL is the base URL of the service, and
 * PUBLISHABLE_TOKEN the merchant's publishable token; by default, the demo on this machine and its token.
 */
import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

const { COMMERCE_URL, PUBLISHABLE_TOKEN, DATA_DIR = ".data" } = process.env;

const readDemoToken = (): string => {
  const demo = JSON.parse(readFileSync(`${DATA_DIR}/demo.json`, "utf8")) as { tokens: { browser: string } };
  return demo.tokens.browser;
};

export default defineConfig({
  server: { host: "localhost", port: 5173, strictPort: true },
  define: {
    settings: JSON.stringify({
      url: COMMERCE_URL ?? "http://127.0.0.1:4000",
      token: PUBLISHABLE_TOKEN ?? readDemoToken(),
    }),
  },
});
