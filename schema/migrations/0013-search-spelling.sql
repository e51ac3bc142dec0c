-- The usual spelling of a vocabulary word, in lower case with accents; null if the word has none. Corrections show it.
alter table search_term add column spelling text;

-- Background work indexes every product again, for spellings and for the typo keys of the ends of compounds.
insert into search_due (product_id) select id from product where status = 'published';
