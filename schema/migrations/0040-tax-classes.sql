-- Stop every process first: the previous release finds a tax rate by market, country and region alone, and stores
-- carts without the rates of their lines. Beside this release, it would write taxes that contradict the tax lines.

-- The tax classes of a merchant, for example `standard`, `reduced` and `exempt`. Products and delivery methods
-- belong to one class each, and a tax rate applies to one class.
create table tax_class (
  merchant_id text not null references merchant,
  code text not null check (code ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(code) <= 96),
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (merchant_id, code)
);
insert into tax_class (merchant_id, code, name, created_at, updated_at)
select id, 'standard', 'Standard', created_at, created_at from merchant;

-- Every merchant has the class `standard`, which is the class of everything without another class.
create function merchant_created() returns trigger language plpgsql as $$
begin
  insert into tax_class (merchant_id, code, name, created_at, updated_at)
  values (new.id, 'standard', 'Standard', new.created_at, new.created_at);
  return null;
end $$;
create trigger merchant_created after insert on merchant for each row execute function merchant_created();

-- A range of texts. GiST has an operator for equal ranges, but without an extension none for equal texts.
create type text_range as range (subtype = text, collation = "C");

alter table tax_rate
  add column tax_class text not null default 'standard',
  -- The first and the last day on which the rate is valid, in the market's time zone; null if there is no limit.
  add column valid_from date,
  add column valid_to date,
  add constraint tax_rate_validity_check check (valid_from <= valid_to),
  add constraint tax_rate_tax_class_fkey foreign key (merchant_id, tax_class) references tax_class,
  drop constraint tax_rate_market_id_country_region_code_key,
  -- At most one rate of a class is valid in a country or region on a day.
  add constraint tax_rate_overlap exclude using gist (
    text_range(market_id || ' ' || country || ' ' || coalesce(region_code, '') || ' ' || tax_class,
               market_id || ' ' || country || ' ' || coalesce(region_code, '') || ' ' || tax_class, '[]') with =,
    daterange(valid_from, valid_to, '[]') with &&
  );
create index tax_rate_by_market on tax_rate (market_id, country);

-- `line`: the tax of each line is rounded. `order`: the sum of the taxes of each percentage is rounded.
alter table market
  add column tax_rounding text not null default 'line' check (tax_rounding in ('line', 'order'));

alter table product
  add column tax_class text not null default 'standard',
  add constraint product_tax_class_fkey foreign key (merchant_id, tax_class) references tax_class;

-- `own_class`: the shipping price is taxed by the class of the delivery method. `goods`: it is divided among the
-- classes of the delivered goods, in proportion to their amounts, and taxed by the rates of these classes.
alter table delivery_method
  add column tax_rule text not null default 'own_class' check (tax_rule in ('own_class', 'goods')),
  add column tax_class text not null default 'standard',
  add constraint delivery_method_tax_class_fkey foreign key (merchant_id, tax_class) references tax_class;

-- tax_rate: { taxClass, name, basisPoints }, the rate by which the line is taxed; null if the cart has no address,
-- or if an earlier release stored the line.
-- shipping_taxes: [{ taxClass, name, basisPoints, amountMinor, taxMinor }], the parts of the shipping price after
-- discounts, each with its rate; null as above.
alter table cart add column shipping_taxes jsonb;
alter table cart_line add column tax_rate jsonb;
alter table order_line add column tax_rate jsonb;
-- tax_lines: [{ taxClass, name, basisPoints, taxableMinor, taxMinor, reducedTaxMinor }], the tax of the order by
-- rate, and the part of it that the buyer no longer owes. Null if an earlier release placed the order.
alter table sales_order add column shipping_taxes jsonb, add column tax_lines jsonb;
