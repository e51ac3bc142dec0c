-- The slugs of categories in single locales. A category without a slug in a locale has the slug of its row in
-- the table `category` there.
create table category_slug (
  merchant_id text not null references merchant,
  locale text not null,
  slug text not null check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 96),
  category_id text not null references category on delete cascade,
  primary key (merchant_id, locale, slug),
  unique (category_id, locale)
);
