/** The windows in which the console's pages are checked: light, dark, and on a phone. */

export const views = [
  { name: "light", options: { viewport: { width: 1280, height: 900 }, colorScheme: "light" } },
  { name: "dark", options: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" } },
  { name: "phone", options: { viewport: { width: 360, height: 740 }, colorScheme: "light" } },
] as const;
