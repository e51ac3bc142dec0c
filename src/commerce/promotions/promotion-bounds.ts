/** How much a promotion may have of everything. The graph declares the same bounds from here, so that what is documented is what is enforced. */
export const promotionBounds = {
  /** Per merchant, at one time. */
  activeAutomaticMax: 50,
  basisPointsMax: 10_000,
  buyerReferenceLengthMax: 128,
  buyerReferencesMax: 1000,
  categoriesMax: 100,
  codesMax: 1000,
  /** Of what is drawn, without the prefix: 8 of 20 signs are one in 25 600 000 000. */
  drawnLengthDefault: 12,
  drawnLengthMax: 32,
  drawnLengthMin: 8,
  limitMax: 2_147_483_647,
  marketsMax: 100,
  minimumQuantityMax: 1_999_800,
  prefixMax: 20,
  priorityMax: 1000,
  productsMax: 500,
  quantityMax: 9999,
  titleMax: 200,
} as const;
