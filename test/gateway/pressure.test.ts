/** Under overload who shows a credential is served for longer than who shows none, whichever way it is shown. */
import { expect, it } from "vitest";
import { isShed } from "#gateway/server.ts";

it.each([
  ["nobody known", {}, [true, true]],
  ["a key or a token", { authorization: "Bearer x" }, [false, true]],
  ["the console's pages, whose session is in a cookie", { cookie: "console=x", "x-commerce-console": "1" }, [false, true]],
  ["what those ask by themselves", { cookie: "console=x", "x-commerce-console": "background" }, [false, true]],
])("sends away %s", (_who, headers, shed) => {
  expect([isShed(headers, 1_500), isShed(headers, 3_000)]).toEqual(shed);
});
