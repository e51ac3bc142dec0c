/** The TypeScript client's lists: which pages they request, and how they end, against scripted answers. */
import { describe, expect, it } from "vitest";
import type { CommerceClient } from "#client/index.ts";
import { answer, type Asked, clientOf, gone, refusal } from "./scripted-client.ts";

describe("a search", () => {
  const page = (number: number, hasNextPage: boolean, totalItemsRelation = "exact") =>
    answer(200, { data: [{ slug: `p${number}` }], meta: { page: number, hasNextPage, totalItemsRelation } });
  const query = { q: "", locale: "en", market: "DE", sort: "newest" } as const;

  const pagesOf = ({ requests }: Asked): (string | null)[] =>
    requests.map(({ url }) => new URL(url).searchParams.get("page"));

  async function readAll(client: CommerceClient, pageSize = 100): Promise<string[]> {
    const slugs: string[] = [];
    for await (const { slug } of client.search({ ...query, pageSize })) slugs.push(slug);
    return slugs;
  }

  it("continues from page to page as far as it is read", async () => {
    const asked = clientOf([page(1, true), page(2, true), page(3, false)]);
    expect(await readAll(asked.client)).toEqual(["p1", "p2", "p3"]);
    expect(pagesOf(asked)).toEqual(["1", "2", "3"]);
    const less = clientOf([page(1, true)]);
    for await (const { slug } of less.client.search(query)) if (slug === "p1") break;
    expect(less.requests).toHaveLength(1);
  });

  it.each([
    ["another page would not be whole", page(1, true)],
    ["the last page is, and more is left", page(1, false, "at_least")],
  ])("throws instead of ending early if the service's pages end and %s", async (_name, last) => {
    const asked = clientOf([last, refusal(400, "page_window_exceeded", null, false)]);
    await expect(readAll(asked.client, 60)).rejects.toMatchObject({ code: "page_window_exceeded" });
    expect(asked.requests).toHaveLength(2);
  });

  it("waits at an exceeded rate limit for the time that the service names, and continues", async () => {
    const asked = clientOf([page(1, true), refusal(429, "rate_limited", 7), page(2, false)]);
    expect(await readAll(asked.client)).toEqual(["p1", "p2"]);
    expect(asked.waits).toEqual([expect.toSatisfy((ms: number) => ms >= 7000 && ms <= 8750)]);
    expect(pagesOf(asked)).toEqual(["1", "2", "2"]);
  });

  it("is resumed at a page, after the pages that were read before an error", async () => {
    const broken = clientOf([page(1, true), page(2, true), refusal(500, "internal_error", null, false)]);
    let last = 0;
    const reading = async (): Promise<void> => {
      for await (const { meta } of broken.client.search(query).pages()) last = meta.page;
    };
    await expect(reading()).rejects.toMatchObject({ code: "internal_error" });
    const asked = clientOf([page(3, false)]);
    const slugs: string[] = [];
    for await (const { slug } of asked.client.search({ ...query, page: last + 1 })) slugs.push(slug);
    expect([slugs, pagesOf(asked)]).toEqual([["p3"], ["3"]]);
  });

  it("requests no page beyond its limit", async () => {
    const asked = clientOf([page(1, true), page(2, true)]);
    const slugs: string[] = [];
    for await (const { slug } of asked.client.search(query, { limit: 2 })) slugs.push(slug);
    expect([slugs, pagesOf(asked)]).toEqual([
      ["p1", "p2"],
      ["1", "2"],
    ]);
    for (const limit of [0, Number.NaN])
      expect(() => asked.client.search(query, { limit })).toThrow('"limit" must be at least 1');
  });

  it("can be aborted between its pages, and accepts headers", async () => {
    const stop = new AbortController();
    const asked = clientOf([page(1, true), gone]);
    const options = { signal: stop.signal, headers: { "accept-language": "de" } };
    const products = asked.client.search(query, options)[Symbol.asyncIterator]();
    expect((await products.next()).value?.slug).toBe("p1");
    stop.abort();
    await expect(products.next()).rejects.toMatchObject({ name: "AbortError" });
    expect(asked.requests.map(({ headers }) => headers.get("accept-language"))).toEqual(
      asked.requests.map(() => "de"),
    );
    expect(asked.requests.length).toBeLessThanOrEqual(2);
  });
});

describe("the catalog", () => {
  const catalog = (truncated: boolean) =>
    answer(200, { data: [{ slug: "p1" }, { slug: "p2" }], meta: { returned: 2, total: 3, truncated } });

  it("throws instead of ending early if the merchant has more products than the list", async () => {
    const slugs: string[] = [];
    const read = async (client: CommerceClient): Promise<void> => {
      for await (const { slug } of client.catalogProducts()) slugs.push(slug);
    };
    await read(clientOf([catalog(false)]).client);
    await expect(read(clientOf([catalog(true)]).client)).rejects.toMatchObject({
      code: "list_truncated",
      message: expect.stringContaining("2 of 3 products"),
    });
    expect(slugs).toEqual(["p1", "p2", "p1", "p2"]);
  });

  it("is requested when it is read, and again for each loop", async () => {
    const asked = clientOf([catalog(true)]);
    const products = asked.client.catalogProducts({ limit: 2 });
    expect(asked.requests).toHaveLength(0);
    for (const times of [1, 2]) {
      for await (const { slug } of products) expect(slug).toMatch(/^p[12]$/);
      expect(asked.requests).toHaveLength(times);
    }
  });
});
