/** What a storefront asks: one query each. */
import type { ExampleQuery } from "./example-queries.ts";

export const storefrontExamples: readonly ExampleQuery[] = [
  {
    title: "Product page",
    query: `# All that a product's page shows, in the buyer's language: variants, prices, policies.
query ProductPage($slug: String!, $languages: [LocaleCode!]) {
  publicProduct(merchantSlug: "lindenhof", productSlug: $slug, languages: $languages) {
    title
    summary
    locale
    localizedSlugs { locale slug }
    image { url alt width height }
    options { name values { code label } }
    variants {
      id
      title
      availability
      offers { market price { amountMinor currency exponent } lowest30d { amountMinor } }
    }
    policies { type summary }
  }
}`,
    variables: `{
  "slug": "sund-4-family-tent",
  "languages": ["de", "en"]
}`,
  },
  {
    title: "Category tree",
    query: `# The categories for a menu, each with what it stands below.
query CategoryTree {
  categories(first: 50) {
    edges { node { slug names position parent { slug } } }
  }
}`,
  },
];
